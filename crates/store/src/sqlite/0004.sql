-- Envelopes: what was assembled once. Nothing overwrites one. `seq` is the record of the journal that tells of it and puts
-- those of a stream in order; `document` is the digest of the artifact that holds the envelope's JSON.
CREATE TABLE envelopes (
    space      INTEGER NOT NULL REFERENCES spaces (key),
    seq        INTEGER NOT NULL,
    id         BLOB    NOT NULL,
    stream     TEXT    NOT NULL,
    recipe     TEXT    NOT NULL,
    commit_id  BLOB,
    created_at INTEGER NOT NULL,
    document   BLOB    NOT NULL,
    PRIMARY KEY (space, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX envelopes_by_id ON envelopes (space, id);
CREATE INDEX envelopes_by_stream ON envelopes (space, stream, seq);
CREATE INDEX envelopes_by_recipe ON envelopes (space, recipe, seq);
CREATE INDEX envelopes_by_commit ON envelopes (space, commit_id, seq) WHERE commit_id IS NOT NULL;

-- The artifacts that belong to an envelope beside its document: frozen inputs and renderings.
CREATE TABLE envelope_artifacts (
    space    INTEGER NOT NULL REFERENCES spaces (key),
    envelope INTEGER NOT NULL,
    position INTEGER NOT NULL,
    artifact BLOB    NOT NULL,
    PRIMARY KEY (space, envelope, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE injections (
    space      INTEGER NOT NULL REFERENCES spaces (key),
    seq        INTEGER NOT NULL,
    id         BLOB    NOT NULL,
    envelope   BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    document   TEXT    NOT NULL,
    PRIMARY KEY (space, seq)
) STRICT;
CREATE UNIQUE INDEX injections_by_id ON injections (space, id);
CREATE INDEX injections_by_envelope ON injections (space, envelope, seq);

-- Missing context in its newest state, of which the record `changed_seq` of the journal tells.
CREATE TABLE missing (
    space       INTEGER NOT NULL REFERENCES spaces (key),
    seq         INTEGER NOT NULL,
    id          BLOB    NOT NULL,
    envelope    BLOB,
    created_at  INTEGER NOT NULL,
    changed_at  INTEGER NOT NULL,
    changed_seq INTEGER NOT NULL,
    status      TEXT    NOT NULL,
    severity    TEXT    NOT NULL,
    document    TEXT    NOT NULL,
    PRIMARY KEY (space, seq)
) STRICT;
CREATE UNIQUE INDEX missing_by_id ON missing (space, id);
CREATE INDEX missing_by_status ON missing (space, status, seq);
CREATE INDEX missing_by_envelope ON missing (space, envelope, seq) WHERE envelope IS NOT NULL;

-- The JSON of the journal's events.
CREATE TABLE events (
    space    INTEGER NOT NULL REFERENCES spaces (key),
    seq      INTEGER NOT NULL,
    envelope BLOB,
    document TEXT    NOT NULL,
    PRIMARY KEY (space, seq)
) STRICT;
CREATE INDEX events_by_envelope ON events (space, envelope, seq) WHERE envelope IS NOT NULL;

-- How many tokens a text has, by the digest of the text. Belongs to no space and can be dropped at any time.
CREATE TABLE token_counts (
    counter TEXT    NOT NULL,
    digest  BLOB    NOT NULL,
    tokens  INTEGER NOT NULL,
    PRIMARY KEY (counter, digest)
) STRICT, WITHOUT ROWID;
