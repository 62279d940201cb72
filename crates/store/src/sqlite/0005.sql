-- The log of a head follows the journal: its rows lie in the order of the journal, each leads to the move before it, and
-- the row of the head leads to the last. So a move dirties no page that the journal's neighbours do not dirty too. A head
-- that is deleted keeps its row, without a commit.
CREATE TABLE reflog_by_seq (
    space       INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    head        TEXT    NOT NULL,
    previous    INTEGER,
    from_commit BLOB,
    to_commit   BLOB,
    actor       TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (space, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO reflog_by_seq (space, seq, head, previous, from_commit, to_commit, actor, at)
SELECT space, seq, head, lag(seq) OVER (PARTITION BY space, head ORDER BY seq), from_commit, to_commit, actor, at
FROM reflog ORDER BY space, seq;

CREATE TABLE heads_with_log (
    space     INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    commit_id BLOB,
    moved_at  INTEGER NOT NULL,
    moved_seq INTEGER NOT NULL,
    PRIMARY KEY (space, name)
) STRICT, WITHOUT ROWID;
INSERT INTO heads_with_log (space, name, commit_id, moved_at, moved_seq)
SELECT r.space, r.head, h.commit_id, coalesce(h.moved_at, r.at), r.seq
FROM reflog r LEFT JOIN heads h ON h.space = r.space AND h.name = r.head
WHERE r.seq = (SELECT max(l.seq) FROM reflog l WHERE l.space = r.space AND l.head = r.head);
-- What was damaged before stays so, and a check tells of it.
INSERT INTO heads_with_log (space, name, commit_id, moved_at, moved_seq)
SELECT h.space, h.name, h.commit_id, h.moved_at, 0 FROM heads h
WHERE NOT EXISTS (SELECT 1 FROM reflog r WHERE r.space = h.space AND r.head = h.name);

DROP TABLE reflog;
DROP TABLE heads;
ALTER TABLE reflog_by_seq RENAME TO reflog;
ALTER TABLE heads_with_log RENAME TO heads;

-- Commits lie in the order in which they were made, and their place on their line is an index: many writers, each on a line
-- of its own, then share the pages of their rows. Were the rows in the order of their lines, each writer would dirty pages of
-- its own and, because every line grows in the middle of the table, move half of its neighbours' rows about all the time.
CREATE TABLE commits_by_arrival (
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
) STRICT;
INSERT INTO commits_by_arrival SELECT * FROM commits ORDER BY space, seq;
DROP TABLE commits;
ALTER TABLE commits_by_arrival RENAME TO commits;
CREATE UNIQUE INDEX commits_by_id ON commits (space, id);
CREATE INDEX commits_by_time ON commits (space, created_at, seq);
CREATE INDEX commits_by_principal ON commits (space, principal, created_at, seq) WHERE principal IS NOT NULL;
CREATE INDEX commits_by_session ON commits (space, session, created_at, seq) WHERE session IS NOT NULL;
CREATE INDEX commits_by_template ON commits (space, template, created_at, seq) WHERE template IS NOT NULL;
CREATE INDEX commits_by_ticket ON commits (space, ticket, created_at, seq) WHERE ticket IS NOT NULL;
CREATE INDEX commits_by_thread ON commits (space, thread, created_at, seq) WHERE thread IS NOT NULL;
