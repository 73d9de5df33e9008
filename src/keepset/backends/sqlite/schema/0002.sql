-- Leases: who works on a run, and until when nobody else may. A lease is renewed by its holder, for
-- all of its runs in one statement; a run without one has no entry in the index.

ALTER TABLE run ADD COLUMN lease_by TEXT;

ALTER TABLE run ADD COLUMN lease_number INTEGER;

ALTER TABLE run ADD COLUMN lease_until INTEGER;

CREATE INDEX run_leases ON run (lease_by, lease_number) WHERE lease_by IS NOT NULL;
