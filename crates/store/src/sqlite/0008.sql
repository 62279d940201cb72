-- Translated conversations, kept to be given again. They are made of the rest and may be dropped at any time; the body comes
-- last, so that what is asked about a row is found before it.
CREATE TABLE renderings (
    space       INTEGER NOT NULL REFERENCES spaces (key),
    key         BLOB    NOT NULL,
    commit_id   BLOB    NOT NULL,
    digest      BLOB    NOT NULL,
    size        INTEGER NOT NULL,
    stored_size INTEGER NOT NULL,
    used_at     INTEGER NOT NULL,
    report      TEXT    NOT NULL,
    body        BLOB    NOT NULL,
    PRIMARY KEY (space, key)
) STRICT;
