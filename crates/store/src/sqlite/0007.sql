-- Channels: one ordered log each. A fork has the messages of another channel up to a place as its own past.
CREATE TABLE channels (
    key          INTEGER PRIMARY KEY,
    space        INTEGER NOT NULL REFERENCES spaces (key),
    id           BLOB    NOT NULL,
    seq          INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    created_by   TEXT    NOT NULL,
    fork_channel BLOB,
    fork_through INTEGER,
    state        TEXT    NOT NULL,
    changed_seq  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX channels_by_id ON channels (space, id);
CREATE UNIQUE INDEX channels_by_name ON channels (space, name);

-- Messages, in the order of the journal. What is said is an artifact.
CREATE TABLE messages (
    space       INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    channel     INTEGER NOT NULL REFERENCES channels (key),
    sequence    INTEGER NOT NULL,
    id          TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    topic       TEXT    NOT NULL,
    sender      TEXT    NOT NULL,
    receiver    TEXT,
    mentions    TEXT    NOT NULL,
    reply_to    TEXT,
    thread      TEXT,
    phase       TEXT,
    replay      TEXT    NOT NULL,
    runtime     TEXT,
    session     TEXT,
    context_id  BLOB,
    content     BLOB    NOT NULL,
    content_key INTEGER NOT NULL,
    PRIMARY KEY (space, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX messages_by_place ON messages (channel, sequence);
CREATE UNIQUE INDEX messages_by_id ON messages (channel, id);
CREATE INDEX messages_by_topic ON messages (channel, topic, sequence);
CREATE INDEX messages_by_sender ON messages (channel, sender, sequence);
CREATE INDEX messages_by_receiver ON messages (channel, receiver, sequence) WHERE receiver IS NOT NULL;
CREATE INDEX messages_by_thread ON messages (channel, thread, sequence) WHERE thread IS NOT NULL;
CREATE INDEX messages_by_phase ON messages (channel, phase, sequence) WHERE phase IS NOT NULL;
CREATE INDEX messages_by_time ON messages (channel, at, sequence);

-- Who is named in which message.
CREATE TABLE message_mentions (
    channel     INTEGER NOT NULL REFERENCES channels (key),
    participant TEXT    NOT NULL,
    sequence    INTEGER NOT NULL,
    PRIMARY KEY (channel, participant, sequence)
) STRICT, WITHOUT ROWID;
