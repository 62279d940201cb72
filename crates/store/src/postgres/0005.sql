-- The log of a head follows the journal: its rows lie in the order of the journal, each leads to the move before it, and
-- the row of the head leads to the last. A head that is deleted keeps its row, without a commit.
CREATE TABLE reflog_by_seq (
    space       BIGINT NOT NULL,
    seq         BIGINT NOT NULL,
    head        TEXT   COLLATE "C" NOT NULL,
    previous    BIGINT,
    from_commit BYTEA,
    to_commit   BYTEA,
    actor       TEXT   COLLATE "C" NOT NULL,
    at          BIGINT NOT NULL,
    PRIMARY KEY (space, seq)
);
INSERT INTO reflog_by_seq (space, seq, head, previous, from_commit, to_commit, actor, at)
SELECT space, seq, head, lag(seq) OVER (PARTITION BY space, head ORDER BY seq), from_commit, to_commit, actor, at
FROM reflog ORDER BY space, seq;

CREATE TABLE heads_with_log (
    space     BIGINT NOT NULL,
    name      TEXT   COLLATE "C" NOT NULL,
    commit_id BYTEA,
    moved_at  BIGINT NOT NULL,
    moved_seq BIGINT NOT NULL,
    PRIMARY KEY (space, name)
) WITH (fillfactor = 50);
INSERT INTO heads_with_log (space, name, commit_id, moved_at, moved_seq)
SELECT r.space, r.head, h.commit_id, coalesce(h.moved_at, r.at), r.seq
FROM reflog r LEFT JOIN heads h ON h.space = r.space AND h.name = r.head
WHERE r.seq = (SELECT max(l.seq) FROM reflog l WHERE l.space = r.space AND l.head = r.head);
-- What was damaged before stays so, and a check tells of it.
INSERT INTO heads_with_log (space, name, commit_id, moved_at, moved_seq)
SELECT h.space, h.name, h.commit_id, h.moved_at, 0 FROM heads h
WHERE NOT EXISTS (SELECT 1 FROM reflog r WHERE r.space = h.space AND r.head = h.name);

DROP TABLE reflog;
DROP TABLE heads;
ALTER TABLE reflog_by_seq RENAME TO reflog;
ALTER TABLE heads_with_log RENAME TO heads;
ALTER INDEX reflog_by_seq_pkey RENAME TO reflog_pkey;
ALTER INDEX heads_with_log_pkey RENAME TO heads_pkey;
