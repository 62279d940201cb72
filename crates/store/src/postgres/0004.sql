CREATE TABLE envelopes (
    space      BIGINT NOT NULL,
    seq        BIGINT NOT NULL,
    id         BYTEA  NOT NULL,
    stream     TEXT   COLLATE "C" NOT NULL,
    recipe     TEXT   COLLATE "C" NOT NULL,
    commit_id  BYTEA,
    created_at BIGINT NOT NULL,
    document   BYTEA  NOT NULL,
    PRIMARY KEY (space, seq)
);
CREATE UNIQUE INDEX envelopes_by_id ON envelopes (space, id);
CREATE INDEX envelopes_by_stream ON envelopes (space, stream, seq);
CREATE INDEX envelopes_by_recipe ON envelopes (space, recipe, seq);
CREATE INDEX envelopes_by_commit ON envelopes (space, commit_id, seq) WHERE commit_id IS NOT NULL;

CREATE TABLE envelope_artifacts (
    space    BIGINT NOT NULL,
    envelope BIGINT NOT NULL,
    position BIGINT NOT NULL,
    artifact BYTEA  NOT NULL,
    PRIMARY KEY (space, envelope, position)
);

CREATE TABLE injections (
    space      BIGINT NOT NULL,
    seq        BIGINT NOT NULL,
    id         BYTEA  NOT NULL,
    envelope   BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    document   TEXT   COLLATE "C" NOT NULL,
    PRIMARY KEY (space, seq)
);
CREATE UNIQUE INDEX injections_by_id ON injections (space, id);
CREATE INDEX injections_by_envelope ON injections (space, envelope, seq);

CREATE TABLE missing (
    space       BIGINT NOT NULL,
    seq         BIGINT NOT NULL,
    id          BYTEA  NOT NULL,
    envelope    BYTEA,
    created_at  BIGINT NOT NULL,
    changed_at  BIGINT NOT NULL,
    changed_seq BIGINT NOT NULL,
    status      TEXT   COLLATE "C" NOT NULL,
    severity    TEXT   COLLATE "C" NOT NULL,
    document    TEXT   COLLATE "C" NOT NULL,
    PRIMARY KEY (space, seq)
);
CREATE UNIQUE INDEX missing_by_id ON missing (space, id);
CREATE INDEX missing_by_status ON missing (space, status, seq);
CREATE INDEX missing_by_envelope ON missing (space, envelope, seq) WHERE envelope IS NOT NULL;

CREATE TABLE events (
    space    BIGINT NOT NULL,
    seq      BIGINT NOT NULL,
    envelope BYTEA,
    document TEXT   COLLATE "C" NOT NULL,
    PRIMARY KEY (space, seq)
);
CREATE INDEX events_by_envelope ON events (space, envelope, seq) WHERE envelope IS NOT NULL;

CREATE TABLE token_counts (
    counter TEXT   COLLATE "C" NOT NULL,
    digest  BYTEA  NOT NULL,
    tokens  BIGINT NOT NULL,
    PRIMARY KEY (counter, digest)
);
