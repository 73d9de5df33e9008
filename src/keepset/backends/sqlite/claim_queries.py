"""Every statement about who may write to a run: claims and leases.

A run without a line is one whose first execution has begun and saved nothing yet. It is there for
these statements alone.
"""

from __future__ import annotations

from typing import Final

ADD_RUN: Final = """
INSERT INTO run (tenant, run_id, incarnation, contract, token, created,
                 lease_by, lease_number, lease_until)
VALUES (:tenant, :run_id, :incarnation, :contract, 1, :created,
        :lease_by, :lease_number, :lease_until)
RETURNING id
"""

BEGUN_RUN: Final = """
SELECT id, incarnation, layout, lease_by, lease_number, lease_until
FROM run WHERE tenant = :tenant AND run_id = :run_id
"""

DROP_BEGUN_RUN: Final = """
DELETE FROM run WHERE tenant = :tenant AND run_id = :run_id
  AND NOT EXISTS (SELECT 1 FROM line l WHERE l.run = run.id)
"""

CLAIM: Final = "UPDATE run SET token = token + 1 WHERE id = :run RETURNING token"

CLAIM_WITH_LEASE: Final = """
UPDATE run SET token = token + 1,
  lease_by = :lease_by, lease_number = :lease_number, lease_until = :lease_until
WHERE id = :run RETURNING token
"""

CLAIMED: Final = "SELECT incarnation, token, layout FROM run WHERE id = :run"

LEASE: Final = "SELECT lease_by, lease_number, lease_until FROM run WHERE id = :run"

LEASE_OF: Final = """
SELECT lease_by, lease_number, lease_until FROM run WHERE tenant = :tenant AND run_id = :run_id
"""

SET_LEASE: Final = """
UPDATE run SET lease_by = :lease_by, lease_number = :lease_number, lease_until = :lease_until
WHERE id = :run
"""

# A whole taking in one statement, for a writer that has its claim.
TAKE: Final = """
UPDATE run SET lease_by = ?, lease_number = ?, lease_until = ?
WHERE id = ? AND incarnation = ? AND token = ?
  AND (lease_by IS NULL OR (lease_by = ? AND lease_number = ?))
"""

DROP_UNSAVED: Final = """
DELETE FROM run WHERE lease_by = ? AND lease_number = ?
  AND NOT EXISTS (SELECT 1 FROM line l WHERE l.run = run.id)
"""

GIVE_BACK: Final = """
UPDATE run SET lease_by = NULL, lease_number = NULL, lease_until = NULL
WHERE lease_by = ? AND lease_number = ?
"""

RENEW: Final = """
UPDATE run SET lease_until = :until WHERE lease_by = :by RETURNING lease_number
"""

BREAK: Final = """
UPDATE run SET token = token + 1, lease_by = NULL, lease_number = NULL, lease_until = NULL
WHERE tenant = :tenant AND run_id = :run_id AND lease_by IS NOT NULL RETURNING id
"""

RENAME: Final = """
UPDATE run SET run_id = :run_id, incarnation = :incarnation, token = token + 1,
  lease_by = NULL, lease_number = NULL, lease_until = NULL
WHERE id = :run
"""
