CREATE TABLE blob (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id),
  digest BLOB NOT NULL,
  size INTEGER NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (run, digest)
) STRICT;
CREATE TABLE contract (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  shape TEXT NOT NULL,
  structure TEXT NOT NULL,
  UNIQUE (name, epoch, shape)
) STRICT;
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
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  run_id TEXT NOT NULL,
  incarnation BLOB NOT NULL,
  contract INTEGER NOT NULL REFERENCES contract (id),
  token INTEGER NOT NULL,
  layout INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL, lease_by TEXT, lease_number INTEGER, lease_until INTEGER,
  UNIQUE (tenant, run_id)
) STRICT;
CREATE INDEX run_leases ON run (lease_by, lease_number) WHERE lease_by IS NOT NULL;
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
CREATE TABLE sqlite_sequence(name,seq);
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
CREATE TABLE store (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  uuid BLOB NOT NULL,
  created INTEGER NOT NULL,
  key_check BLOB
) STRICT;
CREATE TABLE subject (
  run INTEGER NOT NULL REFERENCES run (id),
  subject BLOB NOT NULL,
  PRIMARY KEY (run, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX subject_runs ON subject (subject);
CREATE TABLE tombstone (
  mark BLOB PRIMARY KEY,
  deletions INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
