"""What an audit keeps in memory does not grow with the store, and says where it is an estimate."""

from __future__ import annotations

import random
import tracemalloc
from dataclasses import replace

import pytest

from keepset.audit import curve, looking, sketch, tally
from keepset.audit.curve import Curve
from keepset.audit.data import as_data
from keepset.audit.detectors import detectors
from keepset.audit.looking import Looker
from keepset.audit.reading import RunReading
from keepset.audit.sketch import Repeats
from keepset.audit.tally import Tally
from tests.audit import naive
from tests.audit.test_survey import Rows, audit, state

CHANCE = random.Random(11)  # noqa: S311 - the same values each time


def test_repeats_of_more_values_than_are_followed_are_an_estimate_near_the_truth() -> None:
    found, values = Repeats(), [CHANCE.getrandbits(64) for _ in range(4 * sketch.MOST)]
    for digest in values:
        found.meet(digest, run=0, field=0, size=10)
    for digest in values[::2]:
        found.meet(digest, run=1, field=0, size=10)
    assert len(found.known) <= sketch.MOST
    assert not found.is_exact
    assert found.by_field()[0] == pytest.approx(10 * len(values) / 2, rel=0.05)


def test_few_values_are_counted_and_not_estimated() -> None:
    found = Repeats()
    for run in range(3):
        found.meet(7, run=run, field=1, size=100)
        found.meet(8, run=0, field=1, size=100)
    assert found.is_exact
    assert found.by_field() == {1: 200}


def test_a_curve_of_any_length_has_few_points_and_loses_no_byte() -> None:
    drawn = Curve()
    for step in range(10_000):
        drawn.add(step, step)
    points = drawn.points()
    assert len(points) <= curve.MOST
    assert sum(drawn.sums) == sum(range(10_000))
    assert [mean for _, mean in points] == sorted(mean for _, mean in points)
    middle = points[len(points) // 2]
    assert middle[1] == pytest.approx(middle[0] + drawn.width / 2, rel=0.05)


def test_a_store_with_fields_without_end_is_counted_with_the_rest_together() -> None:
    fields = tally.MOST_FIELDS + 500
    found = audit(Rows(*(state("a", 0, f"field-{n}", "x", size=1) for n in range(fields))))
    data = as_data(found)
    assert len(data["fields"]) + len(data["host_fields"]) <= tally.MOST_FIELDS + 1
    [rest] = [one for one in data["host_fields"] if one["field"] == tally.OTHERS]
    assert rest["values"] == 500
    assert sum(one["bytes"] for one in (*data["fields"], *data["host_fields"])) == fields


def test_secrets_at_places_without_end_are_all_counted() -> None:
    places = tally.MOST_SPOTS + 300
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [
        "".join(letters[number // 26**power % 26] for power in range(3)) for number in range(places)
    ]
    found = audit(Rows(state("a", 0, "config", {name: {"k": naive.KEY} for name in names})))
    secrets = [one for one in found.findings if one.code == "secret.format"]
    assert sum(one.copies for one in secrets) == places
    assert len(secrets) <= tally.MOST_SPOTS + 1
    assert any(one.place == tally.OTHERS for one in secrets)


def test_values_that_were_forgotten_are_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "MOST_KNOWN", 10)
    rows = [
        state(run, step, "log", [{"k": naive.KEY, "n": n} for n in range(40)])
        for run in "ab"
        for step in range(3)
    ]
    [one] = [one for one in audit(Rows(*rows)).findings if one.code == "secret.format"]
    assert (one.copies, one.runs) == (240, 2)


def test_a_graph_inside_that_is_called_often_leaves_no_values_in_memory() -> None:
    """Each call has a namespace of its own, and a state that would be kept to its end."""
    reading = RunReading(Tally(), 0, Looker(detectors()))
    sizes = []
    tracemalloc.start()
    try:
        for call in range(400):
            texts = [f"call {call} text {number} " + "x" * 100 for number in range(300)]
            item = state("a", 0, "docs", texts, size=20_000)
            reading.take(replace(item, namespace=f"child:{call:08x}-0000-4000-8000-000000000000"))
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert sizes[-1] < 2 * sizes[99]


def test_what_is_beside_its_ids_in_a_graph_inside_is_found_whatever_follows_it() -> None:
    ids = [f"doc-{number}" for number in range(20)]
    docs = [{"id": one, "text": f"{one} " + "x" * 1_000} for one in ids]
    inside = [state("a", 0, "ids", ids), state("a", 0, "docs", docs, size=20_000)]
    rows = [replace(one, namespace="child:1") for one in inside]
    found = audit(Rows(*rows, replace(state("a", 0, "ids", ["other"]), namespace="child:2")))
    [docs_field] = [one for one in found.fields if one.tally.field == "docs"]
    assert docs_field.using == "ids"
