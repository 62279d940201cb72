ALTER TABLE artifacts ADD COLUMN stored_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE artifacts ADD COLUMN has_findings BIGINT NOT NULL DEFAULT 0;

CREATE TABLE findings (
    artifact    BIGINT NOT NULL,
    start       BIGINT NOT NULL,
    length      BIGINT NOT NULL,
    rule        TEXT   COLLATE "C" NOT NULL,
    fingerprint BYTEA  NOT NULL,
    cover       TEXT   COLLATE "C" NOT NULL,
    PRIMARY KEY (artifact, start)
);
CREATE INDEX findings_by_fingerprint ON findings (fingerprint, artifact);

CREATE TABLE sealed_originals (
    artifact BIGINT NOT NULL PRIMARY KEY,
    patch    BYTEA
);

CREATE TABLE withheld (
    artifact   BIGINT NOT NULL PRIMARY KEY,
    seq        BIGINT NOT NULL,
    reason     TEXT   COLLATE "C" NOT NULL,
    actor      TEXT   COLLATE "C" NOT NULL,
    at         BIGINT NOT NULL,
    substitute BIGINT
);

ALTER TABLE annotations ADD COLUMN withheld BYTEA;
ALTER TABLE injections ADD COLUMN withheld BYTEA;
ALTER TABLE missing ADD COLUMN withheld BYTEA;
ALTER TABLE events ADD COLUMN withheld BYTEA;

CREATE TABLE secret_policies (
    space    BIGINT NOT NULL PRIMARY KEY,
    seq      BIGINT NOT NULL,
    document TEXT   COLLATE "C" NOT NULL
);
CREATE TABLE secret_scans (
    space BIGINT NOT NULL PRIMARY KEY,
    seq   BIGINT NOT NULL
);

CREATE INDEX parts_by_part ON parts (part);
CREATE INDEX withheld_by_substitute ON withheld (substitute) WHERE substitute IS NOT NULL;
CREATE INDEX journal_of_stored ON journal (space, digest) WHERE kind = 'artifact.stored';
