-- The id by which other files refer to a file, as a fork does to the session that it continues.
ALTER TABLE sources ADD COLUMN session TEXT;
CREATE INDEX sources_by_session ON sources (space, session) WHERE session IS NOT NULL;

-- The index that searches ask. It is made of the journal, the commits and their content, and can be dropped at any time.
-- A row says how far a space is in it: every journal record up to `seq`, and so many passages of the one that follows.
CREATE TABLE search_cursors (
    space    INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    inside   INTEGER NOT NULL,
    rules    INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,
    PRIMARY KEY (space)
) STRICT, WITHOUT ROWID;

-- Where each passage lies: in which entry of which commit, or, without an entry, in what is said about the commit.
CREATE TABLE passages (
    key      INTEGER PRIMARY KEY,
    space    INTEGER NOT NULL,
    line     INTEGER NOT NULL,
    position INTEGER NOT NULL,
    entry    INTEGER,
    part     INTEGER NOT NULL,
    passage  INTEGER NOT NULL,
    role     TEXT,
    kind     TEXT    NOT NULL,
    FOREIGN KEY (line, position) REFERENCES commits (line, position)
) STRICT;
CREATE INDEX passages_by_commit ON passages (line, position);

-- The words of each passage by its key, and not its text. They come cut and in lower case, parted by spaces, so the
-- tokenizer that looks at nothing but ASCII leaves them as they are.
CREATE VIRTUAL TABLE passage_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');
