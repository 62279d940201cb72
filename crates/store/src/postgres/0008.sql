CREATE TABLE renderings (
    space       BIGINT NOT NULL,
    key         BYTEA  NOT NULL,
    commit_id   BYTEA  NOT NULL,
    digest      BYTEA  NOT NULL,
    size        BIGINT NOT NULL,
    stored_size BIGINT NOT NULL,
    used_at     BIGINT NOT NULL,
    report      TEXT   COLLATE "C" NOT NULL,
    body        BYTEA  NOT NULL,
    PRIMARY KEY (space, key)
);
