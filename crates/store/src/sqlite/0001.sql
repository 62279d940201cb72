-- Every row belongs to a space; nothing crosses it. Tables that every checkpoint writes do not declare the reference:
-- a transaction enters its space before it writes, and the check would cost a look-up per row.
CREATE TABLE spaces (
    key        INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;

-- Immutable bytes by their BLAKE3. Where they are follows from the encoding:
--   raw, lz4   in `body` (hot row)
--   parts      split by content; the pieces are artifacts of their own, listed in `parts`
-- Cold packs will be a further encoding whose body says which pack holds the bytes.
CREATE TABLE artifacts (
    key        INTEGER PRIMARY KEY,
    space      INTEGER NOT NULL,
    digest     BLOB    NOT NULL,
    size       INTEGER NOT NULL,
    encoding   TEXT    NOT NULL,
    body       BLOB
) STRICT;
CREATE UNIQUE INDEX artifacts_by_digest ON artifacts (space, digest);

CREATE TABLE parts (
    artifact   INTEGER NOT NULL REFERENCES artifacts (key),
    start      INTEGER NOT NULL,
    part       INTEGER NOT NULL REFERENCES artifacts (key),
    PRIMARY KEY (artifact, start)
) STRICT, WITHOUT ROWID;

-- A line is a run of commits each of which continues the one before; it starts at the root or forks off another line.
CREATE TABLE lines (
    key           INTEGER PRIMARY KEY,
    space         INTEGER NOT NULL REFERENCES spaces (key),
    fork_line     INTEGER REFERENCES lines (key),
    fork_position INTEGER
) STRICT;
CREATE INDEX lines_by_fork ON lines (fork_line, fork_position) WHERE fork_line IS NOT NULL;

CREATE TABLE commits (
    line           INTEGER NOT NULL REFERENCES lines (key),
    position       INTEGER NOT NULL,
    space          INTEGER NOT NULL,
    id             BLOB    NOT NULL,
    parent         BLOB,
    kind           TEXT    NOT NULL,
    artifact       BLOB    NOT NULL,
    artifact_key   INTEGER NOT NULL,
    format         TEXT    NOT NULL,
    template       TEXT,
    principal      TEXT,
    machine        TEXT,
    session        TEXT,
    ticket         TEXT,
    thread         TEXT,
    cause          TEXT    NOT NULL,
    merges         BLOB    NOT NULL,
    message_count  INTEGER,
    token_count    INTEGER,
    created_at     INTEGER NOT NULL,
    seq            INTEGER NOT NULL,
    depth          INTEGER NOT NULL,
    reset_line     INTEGER,
    reset_position INTEGER,
    PRIMARY KEY (line, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX commits_by_id ON commits (space, id);
CREATE INDEX commits_by_time ON commits (space, created_at, seq);
CREATE INDEX commits_by_principal ON commits (space, principal, created_at, seq) WHERE principal IS NOT NULL;
CREATE INDEX commits_by_session ON commits (space, session, created_at, seq) WHERE session IS NOT NULL;
CREATE INDEX commits_by_template ON commits (space, template, created_at, seq) WHERE template IS NOT NULL;
CREATE INDEX commits_by_ticket ON commits (space, ticket, created_at, seq) WHERE ticket IS NOT NULL;
CREATE INDEX commits_by_thread ON commits (space, thread, created_at, seq) WHERE thread IS NOT NULL;

CREATE TABLE annotations (
    line       INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    space      INTEGER NOT NULL REFERENCES spaces (key),
    annotation TEXT    NOT NULL,
    author     TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (line, position, seq),
    FOREIGN KEY (line, position) REFERENCES commits (line, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE heads (
    space     INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    commit_id BLOB    NOT NULL,
    moved_at  INTEGER NOT NULL,
    PRIMARY KEY (space, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE reflog (
    space       INTEGER NOT NULL,
    head        TEXT    NOT NULL,
    seq         INTEGER NOT NULL,
    from_commit BLOB,
    to_commit   BLOB,
    actor       TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (space, head, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (
    space     INTEGER NOT NULL,
    key       TEXT    NOT NULL,
    payload   BLOB    NOT NULL,
    commit_id BLOB    NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
    space   INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    actor   TEXT    NOT NULL,
    kind    TEXT    NOT NULL,
    subject TEXT    NOT NULL,
    digest  BLOB    NOT NULL,
    chain   BLOB    NOT NULL,
    PRIMARY KEY (space, seq)
) STRICT, WITHOUT ROWID;
