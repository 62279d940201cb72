CREATE TABLE participants (
    channel     BIGINT NOT NULL,
    participant TEXT   COLLATE "C" NOT NULL,
    slug        TEXT   COLLATE "C" NOT NULL,
    seq         BIGINT NOT NULL,
    document    TEXT   COLLATE "C" NOT NULL,
    PRIMARY KEY (channel, participant)
);

CREATE TABLE cursors (
    channel  BIGINT NOT NULL,
    agent    TEXT   COLLATE "C" NOT NULL,
    seq      BIGINT NOT NULL,
    document TEXT   COLLATE "C" NOT NULL,
    PRIMARY KEY (channel, agent)
);

CREATE TABLE turns (
    space       BIGINT NOT NULL,
    seq         BIGINT NOT NULL,
    id          BYTEA  NOT NULL,
    channel     BIGINT NOT NULL,
    agent       TEXT   COLLATE "C" NOT NULL,
    number      BIGINT NOT NULL,
    changed_seq BIGINT NOT NULL,
    document    TEXT   COLLATE "C" NOT NULL,
    PRIMARY KEY (space, seq)
);
CREATE UNIQUE INDEX turns_by_id ON turns (space, id);
CREATE UNIQUE INDEX turns_by_number ON turns (channel, agent, number);

CREATE TABLE session_bindings (
    channel   BIGINT NOT NULL,
    agent     TEXT   COLLATE "C" NOT NULL,
    runtime   TEXT   COLLATE "C" NOT NULL,
    directory TEXT   COLLATE "C" NOT NULL,
    session   TEXT   COLLATE "C" NOT NULL,
    named_by  BIGINT NOT NULL,
    PRIMARY KEY (channel, agent, runtime, directory)
);
CREATE INDEX session_bindings_by_session ON session_bindings (runtime, session);
