-- Who takes part in a channel.
CREATE TABLE participants (
    channel     INTEGER NOT NULL REFERENCES channels (key),
    participant TEXT    NOT NULL,
    slug        TEXT    NOT NULL,
    seq         INTEGER NOT NULL,
    document    TEXT    NOT NULL,
    PRIMARY KEY (channel, participant)
) STRICT, WITHOUT ROWID;

-- How far each agent is, in its newest state.
CREATE TABLE cursors (
    channel  INTEGER NOT NULL REFERENCES channels (key),
    agent    TEXT    NOT NULL,
    seq      INTEGER NOT NULL,
    document TEXT    NOT NULL,
    PRIMARY KEY (channel, agent)
) STRICT, WITHOUT ROWID;

-- The turns of agents, in the order of the journal, each in its newest state.
CREATE TABLE turns (
    space       INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    id          BLOB    NOT NULL,
    channel     INTEGER NOT NULL REFERENCES channels (key),
    agent       TEXT    NOT NULL,
    number      INTEGER NOT NULL,
    changed_seq INTEGER NOT NULL,
    document    TEXT    NOT NULL,
    PRIMARY KEY (space, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX turns_by_id ON turns (space, id);
CREATE UNIQUE INDEX turns_by_number ON turns (channel, agent, number);

-- The session in which an agent goes on, in one runtime and directory.
CREATE TABLE session_bindings (
    channel   INTEGER NOT NULL REFERENCES channels (key),
    agent     TEXT    NOT NULL,
    runtime   TEXT    NOT NULL,
    directory TEXT    NOT NULL,
    session   TEXT    NOT NULL,
    named_by  INTEGER NOT NULL,
    PRIMARY KEY (channel, agent, runtime, directory)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_bindings_by_session ON session_bindings (runtime, session);
