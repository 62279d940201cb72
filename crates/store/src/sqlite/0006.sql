-- When an artifact was stored or last put anew, so that what nothing refers to is removed only after a while; and whether
-- there are findings in it.
ALTER TABLE artifacts ADD COLUMN stored_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE artifacts ADD COLUMN has_findings INTEGER NOT NULL DEFAULT 0;

-- Where secrets are in the stored bytes. What is shown has a placeholder there.
CREATE TABLE findings (
    artifact    INTEGER NOT NULL REFERENCES artifacts (key),
    start       INTEGER NOT NULL,
    length      INTEGER NOT NULL,
    rule        TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    cover       TEXT    NOT NULL,
    PRIMARY KEY (artifact, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX findings_by_fingerprint ON findings (fingerprint, artifact);

-- What was taken out of a sealed artifact, encrypted. A patch that was destroyed leaves its row.
CREATE TABLE sealed_originals (
    artifact INTEGER NOT NULL PRIMARY KEY REFERENCES artifacts (key),
    patch    BLOB
) STRICT;

-- Artifacts whose content is not here: it was purged, or did not come along. Another artifact may be shown for it.
CREATE TABLE withheld (
    artifact   INTEGER NOT NULL PRIMARY KEY REFERENCES artifacts (key),
    seq        INTEGER NOT NULL,
    reason     TEXT    NOT NULL,
    actor      TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    substitute INTEGER REFERENCES artifacts (key)
) STRICT;

-- The digest of what a row said before something was removed from it, as the journal has it.
ALTER TABLE annotations ADD COLUMN withheld BLOB;
ALTER TABLE injections ADD COLUMN withheld BLOB;
ALTER TABLE missing ADD COLUMN withheld BLOB;
ALTER TABLE events ADD COLUMN withheld BLOB;

-- How the secrets of a space are treated, and how far they were looked for in what was there before.
CREATE TABLE secret_policies (
    space    INTEGER NOT NULL PRIMARY KEY REFERENCES spaces (key),
    seq      INTEGER NOT NULL,
    document TEXT    NOT NULL
) STRICT;
CREATE TABLE secret_scans (
    space INTEGER NOT NULL PRIMARY KEY REFERENCES spaces (key),
    seq   INTEGER NOT NULL
) STRICT;

-- What removes artifacts that nothing refers to asks what refers to one of them: the parts of larger ones, what is shown for
-- others, and the records of those that were stored by themselves.
CREATE INDEX parts_by_part ON parts (part);
CREATE INDEX withheld_by_substitute ON withheld (substitute) WHERE substitute IS NOT NULL;
CREATE INDEX journal_of_stored ON journal (space, digest) WHERE kind = 'artifact.stored';
