"""Every statement that operations send, by name; those about claims are in `claim_queries`.

Parameters are named. `:low` and `:high` bound the ids of one line's steps (see `step_id`).
"""

from __future__ import annotations

from typing import Final

# --- the store itself -----------------------------------------------------------------------------

STORE: Final = "SELECT uuid, key_check FROM store"

SET_KEY_CHECK: Final = "UPDATE store SET key_check = ?"

# --- finding --------------------------------------------------------------------------------------

RUN: Final = """
SELECT r.id, r.tenant, r.run_id, r.incarnation, c.name, c.epoch, c.shape, c.structure,
       r.token, r.layout, r.created, r.lease_by, r.lease_number, r.lease_until
FROM run r LEFT JOIN contract c ON c.id = r.contract
WHERE r.tenant = :tenant AND r.run_id = :run_id
  AND EXISTS (SELECT 1 FROM line l WHERE l.run = r.id)
"""

DELETIONS: Final = "SELECT deletions FROM tombstone WHERE mark = :mark"

LINES: Final = """
SELECT id, namespace, branch, parent, parent_seq, depth
FROM line WHERE run = :run ORDER BY namespace, branch
"""

NEWEST_SEQ: Final = """
SELECT id & 4294967295 FROM step WHERE id > :low AND id < :high ORDER BY id DESC LIMIT 1
"""

# The seq of the newest packed step; a line whose newest step is packed comes of no writer of ours,
# but what a rewrite leaves is checked here and not believed.
NEWEST_PACKED: Final = """
SELECT last FROM segment WHERE line = :line AND field = '' ORDER BY first DESC LIMIT 1
"""

# --- loading --------------------------------------------------------------------------------------

STEPS: Final = """
SELECT id & 4294967295, checkpoint, parent, name, status, at, metadata, changes, digest
FROM step WHERE id > :low AND id <= :until ORDER BY id
"""

# Jumps from field to field through the index, then from each field's newest segment to the one
# that its chain begins in, and to the one that a reader of that one begins with: the cost is that
# of the rows it gives, however long the history is.
CHAINS: Final = """
WITH RECURSIVE
named (field) AS (
  SELECT (SELECT min(field) FROM segment WHERE line = :line AND field > '')
  UNION ALL
  SELECT (SELECT min(field) FROM segment WHERE line = :line AND field > named.field)
  FROM named WHERE named.field IS NOT NULL
),
based (field, base) AS (
  SELECT named.field,
         (SELECT s.base FROM segment s
          WHERE s.line = :line AND s.field = named.field AND s.first <= :seq
          ORDER BY s.first DESC LIMIT 1)
  FROM named WHERE named.field IS NOT NULL
)
SELECT s.field, s.first, s.last, s.base, s.start, s.data, s.digest
FROM based CROSS JOIN segment s
WHERE s.line = :line AND s.field = based.field AND s.first <= :seq
  AND s.first >= coalesce(
    (SELECT b.start FROM segment b
     WHERE b.line = :line AND b.field = based.field AND b.first <= based.base
     ORDER BY b.first DESC LIMIT 1), 0)
ORDER BY s.field, s.first
"""

HEADER_SEGMENT: Final = """
SELECT field, first, last, base, start, data, digest
FROM segment WHERE line = :line AND field = '' AND first <= :seq ORDER BY first DESC LIMIT 1
"""

# Of one line after the other the steps, which lie together; a step's changes are not read for it.
SEEK: Final = """
SELECT l.id, s.id & 4294967295, s.checkpoint, s.parent, s.name, s.status, s.at, s.metadata,
       s.changes, s.digest
FROM line l CROSS JOIN step s ON s.id > l.id << 32 AND s.id < (l.id + 1) << 32
WHERE l.run = :run AND l.namespace = :namespace AND s.checkpoint = :checkpoint
ORDER BY l.branch LIMIT 1
"""

LAST_PACKED: Final = """
SELECT l.id, g.last FROM line l JOIN segment g ON g.id = (
  SELECT s.id FROM segment s WHERE s.line = l.id AND s.field = '' ORDER BY s.first DESC LIMIT 1)
WHERE l.run = :run AND l.namespace = :namespace ORDER BY l.branch
"""

NEWEST_STEPS: Final = """
SELECT id & 4294967295, checkpoint, parent, name, status, at, metadata, changes, digest
FROM step WHERE id > :low AND id <= :until ORDER BY id DESC LIMIT :limit
"""

NEWEST_HEADERS: Final = """
SELECT field, first, last, base, start, data, digest
FROM segment WHERE line = :line AND field = '' AND first <= :seq ORDER BY first DESC LIMIT :limit
"""

SEGMENTS: Final = """
SELECT field, first, last, base, start, data, digest
FROM segment WHERE line = :line ORDER BY field, first
"""

BLOB: Final = "SELECT digest, size, data FROM blob WHERE run = :run AND digest = :digest"

BLOB_DIGESTS: Final = "SELECT digest FROM blob WHERE run = :run ORDER BY digest"

WRITES: Final = """
SELECT task, path, ordinal, channel, value, digest, status
FROM write WHERE step = :step AND ordinal <> -2147483648 ORDER BY path, task, ordinal
"""

STANDING: Final = """
SELECT status FROM write WHERE step = :step AND status <> '' ORDER BY id DESC LIMIT 1
"""

BUNDLE: Final = """
SELECT task, path, ordinal, channel, value, digest, status
FROM write WHERE step >= :step AND step < :high AND ordinal = -2147483648 ORDER BY step LIMIT 1
"""

LINE_WRITES: Final = """
SELECT step & 4294967295, task, path, ordinal, channel, value, digest, status
FROM write WHERE step > :low AND step < :high ORDER BY step, path, task, ordinal
"""

# --- listing and measuring ------------------------------------------------------------------------

# The newest line is the one that a resume goes on with: of the root namespace, the last branch. Its
# newest step may be that of its fork point, which lies on its parent, and there it may be packed.
# What was written after that step may say that the run has been paused since, or has failed.
RUNS: Final = """
SELECT r.id, r.tenant, r.run_id, r.incarnation, coalesce(c.name, ''), coalesce(c.epoch, 0),
       coalesce(c.shape, ''), coalesce(c.structure, ''), r.token, r.layout, r.created,
       r.lease_by, r.lease_number, r.lease_until,
       (SELECT coalesce(sum(l.packed + (SELECT count(*) FROM step p
                WHERE p.id > l.id << 32 AND p.id < (l.id + 1) << 32)), 0)
        FROM line l WHERE l.run = r.id),
       top.id, top.parent, top.parent_seq,
       coalesce((SELECT w.status FROM write w WHERE w.step = s.id AND w.status <> ''
                 ORDER BY w.id DESC LIMIT 1), s.status) AS stands,
       s.checkpoint, s.name, s.at
FROM run r
LEFT JOIN contract c ON c.id = r.contract
LEFT JOIN line top ON top.id = (
  SELECT l.id FROM line l WHERE l.run = r.id AND l.namespace = '' ORDER BY l.branch DESC LIMIT 1)
LEFT JOIN step s ON s.id = coalesce(
  (SELECT max(m.id) FROM step m WHERE m.id > top.id << 32 AND m.id < (top.id + 1) << 32),
  top.parent << 32 | top.parent_seq)
WHERE r.tenant = :tenant AND r.run_id > :after
  AND EXISTS (SELECT 1 FROM line own WHERE own.run = r.id)
  AND (:status IS NULL OR s.id IS NULL OR stands = :status)
  AND (:contract IS NULL OR c.id IS NULL OR c.name = :contract)
  AND (:subject IS NULL OR r.id IN (SELECT j.run FROM subject j WHERE j.subject = :subject))
ORDER BY r.run_id LIMIT :limit
"""

RUN_COUNT: Final = """
SELECT count(*) FROM run r
WHERE r.tenant = :tenant AND EXISTS (SELECT 1 FROM line l WHERE l.run = r.id)
"""

STEP_SIZES: Final = """
SELECT count(*), coalesce(sum(length(s.metadata) + length(s.changes) + length(s.digest)
       + length(s.checkpoint) + length(s.parent) + length(s.name) + length(s.status) + 8), 0)
FROM run r JOIN line l ON l.run = r.id
JOIN step s ON s.id > l.id << 32 AND s.id < (l.id + 1) << 32
WHERE r.tenant = :tenant
"""

PACKED_COUNT: Final = """
SELECT coalesce(sum(l.packed), 0) FROM run r JOIN line l ON l.run = r.id WHERE r.tenant = :tenant
"""

SEGMENT_SIZES: Final = """
SELECT g.field, sum(length(g.data) + length(g.digest))
FROM run r JOIN line l ON l.run = r.id JOIN segment g ON g.line = l.id
WHERE r.tenant = :tenant GROUP BY g.field
"""

WRITE_SIZES: Final = """
SELECT coalesce(sum(length(w.value) + length(w.task) + length(w.path) + length(w.channel)), 0)
FROM run r JOIN line l ON l.run = r.id
JOIN write w ON w.step > l.id << 32 AND w.step < (l.id + 1) << 32
WHERE r.tenant = :tenant
"""

BLOB_SIZES: Final = """
SELECT coalesce(sum(length(b.data)), 0)
FROM run r JOIN blob b ON b.run = r.id WHERE r.tenant = :tenant
"""

PAGES: Final = """
SELECT (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size),
       (SELECT freelist_count FROM pragma_freelist_count)
       * (SELECT page_size FROM pragma_page_size)
"""

# --- claiming -------------------------------------------------------------------------------------

CONTRACT_ID: Final = """
SELECT id FROM contract WHERE name = :name AND epoch = :epoch AND shape = :shape
"""

ADD_CONTRACT: Final = """
INSERT INTO contract (name, epoch, shape, structure) VALUES (:name, :epoch, :shape, :structure)
RETURNING id
"""

RAISE_LAYOUT: Final = "UPDATE run SET layout = layout + 1 WHERE id = :run"

SET_CONTRACT: Final = "UPDATE run SET contract = :contract WHERE id = :run"

ADD_SUBJECT: Final = """
INSERT INTO subject (run, subject) VALUES (:run, :subject) ON CONFLICT DO NOTHING
"""

# All that a save has to know, in one statement.
POSITION: Final = """
SELECT r.incarnation, r.token, r.layout, c.name, c.epoch, c.shape,
       l.id, l.namespace, l.branch, l.parent, l.parent_seq, l.depth,
       (SELECT max(s.id) & 4294967295 FROM step s WHERE s.id > :low AND s.id < :high),
       EXISTS (SELECT 1 FROM step s
               WHERE s.id > :low AND s.id < :high AND s.checkpoint = :checkpoint)
FROM run r
LEFT JOIN contract c ON c.id = r.contract
LEFT JOIN line l ON l.id = :line AND l.run = r.id
WHERE r.id = :run
"""

# --- writing --------------------------------------------------------------------------------------

ADD_LINE: Final = """
INSERT INTO line (run, namespace, branch, parent, parent_seq, depth)
SELECT :run, :namespace,
       (SELECT coalesce(max(branch) + 1, 0) FROM line
        WHERE run = :run AND namespace = :namespace),
       :parent, :parent_seq, :depth
FROM run WHERE id = :run
RETURNING id, namespace, branch, parent, parent_seq, depth
"""

ROOT_LINE: Final = """
SELECT 1 FROM line WHERE run = :run AND namespace = :namespace LIMIT 1
"""

ADD_STEP: Final = """
INSERT INTO step (id, checkpoint, parent, name, status, at, metadata, changes, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

# A whole save in one statement: a row is added where all that its writer expects holds.
ADD_EXPECTED_STEP: Final = """
INSERT INTO step (id, checkpoint, parent, name, status, at, metadata, changes, digest)
SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?
FROM run r JOIN contract c ON c.id = r.contract JOIN line l ON l.id = ? AND l.run = r.id
WHERE r.id = ? AND r.incarnation = ? AND r.token = ? AND r.layout = ?
  AND c.name = ? AND c.epoch = ? AND c.shape = ?
  AND (SELECT max(s.id) FROM step s WHERE s.id > ? AND s.id < ?) = ?
  AND NOT EXISTS (
    SELECT 1 FROM step s WHERE s.id > ? AND s.id < ? AND s.checkpoint = ?)
"""

ADD_SEGMENT: Final = """
INSERT INTO segment (line, field, first, last, base, start, data, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (line, field, first) DO UPDATE
SET last = excluded.last, base = excluded.base, start = excluded.start, data = excluded.data,
    digest = excluded.digest
"""

COUNT_UNTIL: Final = "SELECT count(*) FROM step WHERE id > :low AND id <= :until"

DROP_UNTIL: Final = "DELETE FROM step WHERE id > :low AND id <= :until"

ADD_PACKED: Final = "UPDATE line SET packed = packed + :count WHERE id = :line"

ADD_BLOB: Final = """
INSERT INTO blob (run, digest, size, data) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
"""

HAS_STEP: Final = """
SELECT EXISTS (SELECT 1 FROM step WHERE id = :step)
    OR coalesce((SELECT last >= :seq FROM segment
                 WHERE line = :line AND field = '' AND first <= :seq
                 ORDER BY first DESC LIMIT 1), 0)
"""

KEEP_WRITE: Final = """
INSERT INTO write (step, task, ordinal, path, channel, value, digest, status)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (step, task, ordinal) DO NOTHING
"""

# A row that takes another's place is the newest one: what it says of the run counts.
REPLACE_WRITE: Final = """
INSERT OR REPLACE INTO write (step, task, ordinal, path, channel, value, digest, status)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""

WRITES_BETWEEN: Final = """
SELECT step, task, ordinal, digest FROM write WHERE step >= :first AND step <= :last
"""

TAKE_WRITE: Final = """
DELETE FROM write WHERE step = ? AND task = ? AND ordinal = ? AND digest = ?
"""

# --- removing -------------------------------------------------------------------------------------

DROP_STEPS: Final = "DELETE FROM step WHERE id > :low AND id < :high"

DROP_SEGMENTS: Final = "DELETE FROM segment WHERE line = :line"

DROP_WRITES: Final = "DELETE FROM write WHERE step > :low AND step < :high"

DROP_WRITE: Final = "DELETE FROM write WHERE step = ?"

DROP_BUNDLES: Final = """
DELETE FROM write WHERE step > :low AND step < :high AND ordinal = -2147483648
"""

WRITE_DIGESTS: Final = "SELECT digest FROM write WHERE step > :low AND step < :high"

WRITE_STEPS: Final = "SELECT DISTINCT step FROM write WHERE step > :low AND step < :high"

DROP_LINE: Final = "DELETE FROM line WHERE id = :line"

DROP_BLOBS: Final = "DELETE FROM blob WHERE run = :run"

DROP_BLOB: Final = "DELETE FROM blob WHERE run = ? AND digest = ?"

DROP_SUBJECTS: Final = "DELETE FROM subject WHERE run = :run"

RUN_ID: Final = "SELECT id FROM run WHERE tenant = :tenant AND run_id = :run_id"

DROP_RUN: Final = "DELETE FROM run WHERE id = :run"

SET_LINE: Final = """
UPDATE line SET parent = :parent, parent_seq = :parent_seq, depth = :depth, packed = :packed
WHERE id = :line
"""

ADD_TOMBSTONE: Final = """
INSERT INTO tombstone (mark, deletions, at) VALUES (:mark, 1, :at)
ON CONFLICT (mark) DO UPDATE SET deletions = deletions + 1, at = excluded.at
"""

# --- copying --------------------------------------------------------------------------------------

COPY_RUN: Final = """
INSERT INTO run (tenant, run_id, incarnation, contract, token, created)
SELECT :tenant, :run_id, :incarnation, contract, 1, :created FROM run WHERE id = :run
RETURNING id
"""

COPY_LINE: Final = """
INSERT INTO line (run, namespace, branch, parent, parent_seq, depth, packed)
SELECT :copy, namespace, branch, :parent, parent_seq, depth, packed FROM line WHERE id = :line
RETURNING id
"""

COPY_STEPS: Final = """
INSERT INTO step (id, checkpoint, parent, name, status, at, digest, metadata, changes)
SELECT id - :low + :start, checkpoint, parent, name, status, at, digest, metadata, changes
FROM step WHERE id > :low AND id < :high
"""

COPY_SEGMENTS: Final = """
INSERT INTO segment (line, field, first, last, base, start, digest, data)
SELECT :copy, field, first, last, base, start, digest, data FROM segment WHERE line = :line
"""

COPY_WRITES: Final = """
INSERT INTO write (step, task, ordinal, path, channel, digest, value, status)
SELECT step - :low + :start, task, ordinal, path, channel, digest, value, status
FROM write WHERE step > :low AND step < :high ORDER BY id
"""

COPY_BLOBS: Final = """
INSERT INTO blob (run, digest, size, data)
SELECT :copy, digest, size, data FROM blob WHERE run = :run
"""

COPY_SUBJECTS: Final = """
INSERT INTO subject (run, subject) SELECT :copy, subject FROM subject WHERE run = :run
"""
