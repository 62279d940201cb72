-- Files that sessions came from, and how far each was taken in.
CREATE TABLE sources (
    key      INTEGER PRIMARY KEY,
    space    INTEGER NOT NULL,
    machine  TEXT    NOT NULL,
    path     TEXT    NOT NULL,
    format   TEXT    NOT NULL,
    size     INTEGER NOT NULL,
    tail     BLOB    NOT NULL,
    state    TEXT    NOT NULL,
    taken_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX sources_by_path ON sources (space, machine, path);

-- Which bytes of which artifact each stretch of a source is: together they are the file again.
CREATE TABLE segments (
    source     INTEGER NOT NULL REFERENCES sources (key),
    start      INTEGER NOT NULL,
    length     INTEGER NOT NULL,
    artifact   INTEGER NOT NULL REFERENCES artifacts (key),
    part_start INTEGER NOT NULL,
    PRIMARY KEY (source, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX segments_by_artifact ON segments (artifact);
