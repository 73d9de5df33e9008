"""What a search finds of a workflow whose truth is known."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from keepset.contracts import Keep
from keepset.prove.leaves import Leaf
from keepset.prove.proof import Proven
from keepset.prove.search import look, measure
from keepset.prove.standing import CONTROLS
from keepset.prove.trials import Outcome, Trial
from keepset.prove.tries import Question
from tests.prove.oracle import Oracle, answered, proven

FIELDS = list("abcdefgh")
POINTS = ("after one", "after two", "after three")

groups = st.dictionaries(
    st.sampled_from(POINTS),
    st.lists(st.frozensets(st.sampled_from(FIELDS), min_size=1, max_size=3), max_size=3),
)


def _oracle(truth: dict[str, list[frozenset[str]]]) -> Oracle:
    """Of each group one field at least has to be there at its point."""

    def wrong(point: str, left_out: frozenset[str]) -> str | None:
        missing = any(group <= left_out for group in truth.get(point, []))
        return "KeyError" if missing else None

    return Oracle(POINTS, wrong)


@given(groups)
def test_a_field_is_needed_exactly_where_a_resume_goes_wrong_without_it_alone(
    truth: dict[str, list[frozenset[str]]],
) -> None:
    proof = proven(_oracle(truth), FIELDS)
    for field in proof.fields:
        for cell in field.cells:
            alone = frozenset({field.name}) in truth.get(cell.point, [])
            assert (cell.verdict is Proven.NEEDED) == alone


@given(groups)
def test_what_is_left_over_suffices_and_dropping_any_one_breaks_a_resume(
    truth: dict[str, list[frozenset[str]]],
) -> None:
    oracle = _oracle(truth)
    proof = proven(oracle, FIELDS)
    assert proof.sufficient is not None
    out = frozenset(FIELDS) - frozenset(proof.sufficient)
    assert all(oracle.wrong(point, out) is None for point in POINTS)
    for name in proof.sufficient:
        assert any(oracle.wrong(point, out | {name}) for point in POINTS)


@given(groups)
def test_every_set_that_is_said_to_be_needed_together_is_one_and_has_no_smaller_one_in_it(
    truth: dict[str, list[frozenset[str]]],
) -> None:
    oracle = _oracle(truth)
    proof = proven(oracle, FIELDS)
    together = {group for field in proof.fields for group in field.together}
    for group in together:
        assert any(
            oracle.wrong(point, group)
            and not any(oracle.wrong(point, group - {name}) for name in group)
            for point in POINTS
        )


@given(groups)
def test_trying_in_groups_gives_the_same_verdicts(
    truth: dict[str, list[frozenset[str]]],
) -> None:
    one_by_one = proven(_oracle(truth), FIELDS)
    in_groups = proven(_oracle(truth), FIELDS, most=0)
    assert [f.verdict for f in in_groups.fields] == [f.verdict for f in one_by_one.fields]


def test_trying_in_groups_takes_fewer_runs_where_little_is_needed() -> None:
    fields = [f"field{number}" for number in range(64)]
    truth = {POINTS[0]: [frozenset({"field7"})]}
    assert proven(_oracle(truth), fields, most=0).resumes < 64
    assert proven(_oracle(truth), fields).resumes > 3 * 64


@given(groups)
def test_no_run_is_carried_out_twice(truth: dict[str, list[frozenset[str]]]) -> None:
    oracle = _oracle(truth)
    proven(oracle, FIELDS)
    assert len(oracle.tried) == len(set(oracle.tried))


def test_a_field_with_which_a_resume_fails_and_without_which_it_does_not_is_called_stale() -> None:
    def wrong(point: str, left_out: frozenset[str]) -> str | None:
        if point == POINTS[1] and "c" not in left_out:
            return "FileNotFoundError"
        return "KeyError" if "a" in left_out else None

    proof = proven(Oracle(POINTS, wrong), FIELDS)
    fields = {field.name: field for field in proof.fields}
    assert fields["c"].stale == (POINTS[1],)
    assert fields["c"].verdict is Proven.NOT_NEEDED
    assert fields["a"].verdict is Proven.NEEDED
    assert fields["b"].verdict is Proven.NOT_NEEDED


def test_nothing_is_said_of_a_point_at_which_every_resume_fails() -> None:
    proof = proven(
        Oracle(POINTS, lambda point, _: "OSError" if point == POINTS[2] else None), ["a"]
    )
    (field,) = proof.fields
    assert [cell.verdict for cell in field.cells] == [
        Proven.NOT_NEEDED,
        Proven.NOT_NEEDED,
        Proven.INCONCLUSIVE,
    ]
    assert field.verdict is Proven.INCONCLUSIVE
    assert not proof.is_conclusive


def test_what_a_slow_clock_has_changed_since_the_first_controls_is_volatile_as_well() -> None:
    oracle = Oracle(POINTS, lambda *_: None)

    def outcome(trial: Trial) -> Outcome:
        # The clock strikes once the controls are over.
        is_late = trial.point is not None and bool(trial.left_out or trial.number == CONTROLS)
        day = Leaf("str", f"2031-01-{2 if is_late else 1:02}")
        one = oracle.outcome(trial)
        return replace(one, state={**one.state, ("day",): day})

    question = Question("oracle", dict.fromkeys(["day", "a"], Keep()))
    looked = answered(look(question), outcome)
    proof = answered(measure(looked), outcome)
    assert {field.verdict for field in proof.fields} == {Proven.NOT_NEEDED}
    assert proof.volatile == ("day",)


def test_a_workflow_without_a_point_to_resume_at_is_inconclusive() -> None:
    proof = proven(Oracle((), lambda *_: None), ["a"])
    assert proof.fields[0].verdict is Proven.INCONCLUSIVE
    assert not proof.is_conclusive


def test_resumes_that_differ_at_one_point_make_the_workflow_one_that_cannot_be_repeated() -> None:
    oracle = Oracle(POINTS, lambda _, out: "KeyError" if "a" in out else None)

    def outcome(trial: Trial) -> Outcome:
        one = oracle.outcome(trial)
        if trial.point == POINTS[1] and trial.number == 1:
            return replace(one, steps=(("another",),))
        return one

    question = Question("oracle", dict.fromkeys(["a", "b"], Keep()))
    proof = answered(measure(answered(look(question), outcome)), outcome)
    assert {field.verdict for field in proof.fields} == {Proven.INCONCLUSIVE}
    assert proof.unlike == ("the steps and their order",)


def test_what_goes_wrong_once_and_right_the_second_time_is_no_verdict() -> None:
    oracle = Oracle(POINTS, lambda _, out: "KeyError" if "a" in out else None)

    def outcome(trial: Trial) -> Outcome:
        one = oracle.outcome(trial)
        if trial.left_out == {"b"} and trial.number == 0:
            return replace(one, state={("answer",): Leaf("str", "no")})
        return one

    question = Question("oracle", dict.fromkeys(["a", "b"], Keep()))
    proof = answered(measure(answered(look(question), outcome)), outcome)
    verdicts = {field.name: field.verdict for field in proof.fields}
    assert verdicts == {"a": Proven.NEEDED, "b": Proven.INCONCLUSIVE}
