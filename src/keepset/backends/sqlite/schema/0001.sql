-- The first schema: everything that a run, its lines, its checkpoints and its pending writes need.
--
-- A step's id is (line << 32 | seq): a save is one row in one tree, and the newest step of a line
-- is the last row of its range. Ids of runs and lines are never given twice, so that a reader who
-- comes late cannot find another run under an old number. Comments stay outside the statements,
-- since SQLite keeps a statement's text in the file.

-- The store itself; one row. `key_check` tells the key of the keyed hashes from any other.
CREATE TABLE store (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  uuid BLOB NOT NULL,
  created INTEGER NOT NULL,
  key_check BLOB
) STRICT;

-- Contracts as they were when a run was written.
CREATE TABLE contract (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  shape TEXT NOT NULL,
  structure TEXT NOT NULL,
  UNIQUE (name, epoch, shape)
) STRICT;

CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  run_id TEXT NOT NULL,
  incarnation BLOB NOT NULL,
  contract INTEGER NOT NULL REFERENCES contract (id),
  token INTEGER NOT NULL,
  layout INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL,
  UNIQUE (tenant, run_id)
) STRICT;

-- `packed` counts the checkpoints that lie in segments.
CREATE TABLE line (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id < 2147483648),
  run INTEGER NOT NULL REFERENCES run (id),
  namespace TEXT NOT NULL,
  branch INTEGER NOT NULL,
  parent INTEGER,
  parent_seq INTEGER NOT NULL,
  depth INTEGER NOT NULL,
  packed INTEGER NOT NULL DEFAULT 0,
  UNIQUE (run, namespace, branch)
) STRICT;

CREATE TABLE step (
  id INTEGER PRIMARY KEY,
  checkpoint TEXT NOT NULL,
  parent TEXT NOT NULL,
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  at INTEGER NOT NULL,
  digest BLOB NOT NULL,
  metadata BLOB NOT NULL,
  changes BLOB NOT NULL
) STRICT;

CREATE TABLE segment (
  id INTEGER PRIMARY KEY,
  line INTEGER NOT NULL REFERENCES line (id),
  field TEXT NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  base INTEGER NOT NULL,
  start INTEGER NOT NULL,
  digest BLOB NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (line, field, first)
) STRICT;

-- `step` is (line << 32 | seq), as in the table of steps; the step itself may be packed. `status` is
-- where the run stands since the write; of one step the newest row that says so counts.
CREATE TABLE write (
  id INTEGER PRIMARY KEY,
  step INTEGER NOT NULL,
  task TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  path TEXT NOT NULL,
  channel TEXT NOT NULL,
  digest BLOB NOT NULL,
  status TEXT NOT NULL DEFAULT '',
  value BLOB NOT NULL,
  UNIQUE (step, task, ordinal)
) STRICT;

CREATE TABLE blob (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id),
  digest BLOB NOT NULL,
  size INTEGER NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (run, digest)
) STRICT;

CREATE TABLE subject (
  run INTEGER NOT NULL REFERENCES run (id),
  subject BLOB NOT NULL,
  PRIMARY KEY (run, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX subject_runs ON subject (subject);

-- How often the run id behind a keyed hash was deleted, and when last.
CREATE TABLE tombstone (
  mark BLOB PRIMARY KEY,
  deletions INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
