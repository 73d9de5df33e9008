"""What can be said of a thread without resuming it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.graph import START
from pydantic import SecretStr

from keepset.errors import NotFoundError, SchemaError
from keepset.langgraph import KeepsetSaver
from keepset.verdict.resume import ResumeReport
from keepset.verdict.status import Resume
from tests.adapters.langgraph.graph.deploys import (
    CONFIG,
    GRAPHS,
    Deploys,
    approve,
    in_a_row,
    review,
)


def report_on(graph: Any, config: Any = CONFIG) -> ResumeReport:
    report: ResumeReport = graph.checkpointer.can_resume(config)
    assert asyncio.run(graph.checkpointer.acan_resume(config)) == report
    return report


def test_a_thread_that_its_own_graph_resumes_is_as_it_is(deploys: Deploys) -> None:
    graph = deploys.deploy(in_a_row("approve", approve))
    deploys.call(graph, {"total": 1})
    assert report_on(graph) == ResumeReport(Resume.AS_IS, ())


def test_a_report_says_what_a_resume_would_be_refused_for(deploys: Deploys) -> None:
    deploys.call(deploys.deploy(in_a_row("approve", approve)), {"total": 1})
    graph = deploys.deploy(in_a_row("review", review))
    report = report_on(graph)
    assert report.verdict is Resume.INCOMPATIBLE
    with pytest.raises(SchemaError) as refused:
        deploys.call(graph, None)
    assert report.reasons[0].code == refused.value.code == "langgraph.node-gone"
    assert report.reasons[0].message in refused.value.message
    graph = deploys.deploy(in_a_row("review", review), renamed={"approve": "review"})
    assert report_on(graph).verdict is Resume.AS_IS


def test_a_graph_inside_is_looked_into_where_the_thread_waits_in_it(deploys: Deploys) -> None:
    deploys.call(deploys.deploy(in_a_row("team", GRAPHS["approve"]().compile())), {"total": 1})
    changed = in_a_row("team", GRAPHS["review"]().compile())
    report = report_on(deploys.deploy(changed))
    assert [reason.code for reason in report.reasons] == ["langgraph.node-gone"]
    with pytest.raises(SchemaError, match="team"):
        deploys.call(deploys.deploy(changed), None)
    renamed = deploys.deploy(changed, renamed={"approve": "review"})
    assert report_on(renamed).verdict is Resume.AS_IS


def test_an_older_checkpoint_is_judged_by_the_graph_that_wrote_it(deploys: Deploys) -> None:
    graph = deploys.deploy(in_a_row("approve", approve))
    deploys.call(graph, {"total": 1})
    waiting = graph.get_state(CONFIG).config
    deploys.call(graph, {"total": 2})
    newer = deploys.deploy(in_a_row("review", review))
    newer.update_state(CONFIG, {"total": 3}, as_node="draft")
    assert report_on(newer).verdict is Resume.AS_IS
    assert report_on(newer, waiting).verdict is Resume.INCOMPATIBLE


def test_a_secret_that_was_withheld_hides_no_other_reason(deploys: Deploys) -> None:
    def keyed(_: Any) -> dict[str, Any]:
        return {"checked": SecretStr("a-secret-that-is-made-up")}

    def of(node: str, work: Any) -> Any:
        builder = in_a_row(node, work)
        builder.add_node("keyed", keyed)
        builder.add_edge("keyed", node)
        builder.add_edge(START, "keyed")
        return builder

    deploys.call(deploys.deploy(of("approve", approve)), {"total": 1})
    report = report_on(deploys.deploy(of("review", review)))
    assert [(one.verdict, one.code) for one in report.reasons] == [
        (Resume.POLICY, "resume.withheld"),
        (Resume.INCOMPATIBLE, "langgraph.node-gone"),
    ]


def test_a_thread_that_is_not_there_is_told_from_one_that_is(deploys: Deploys) -> None:
    graph = deploys.deploy(in_a_row("approve", approve))
    with pytest.raises(NotFoundError):
        graph.checkpointer.can_resume(CONFIG)


def test_a_saver_that_is_bound_to_no_graph_does_not_say_that_all_is_well() -> None:
    with KeepsetSaver("memory:") as saver:
        report = saver.can_resume(CONFIG)
    assert (report.verdict, report.reasons[0].code) == (Resume.UNKNOWN, "langgraph.not-bound")
