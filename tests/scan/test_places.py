"""Paths of temporary things are found where the whole value is one."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from keepset.scan import Finding, KnownValues, Scanner

ROOTS = ("/scratch", "/var/folders/ab", "C:\\Users\\ann\\AppData\\Local\\Temp")


def look(value: object, made: frozenset[str] = frozenset()) -> list[Finding]:
    scanner = Scanner(KnownValues(), ROOTS, made)
    return scanner.leaves(value, ("f",), name="f", parts=lambda _: None)


@pytest.mark.parametrize(
    "value",
    [
        "/scratch/work-1",
        "/scratch/a/../b.txt",
        "//scratch/x",
        "/var/folders/ab/T/x.pdf",
        "file:///scratch/a%20b.txt",
        "/scratch/My Final Report.pdf",
        b"/scratch/raw.bin",
        PurePosixPath("/scratch/dir/file"),
        "c:\\users\\Ann\\AppData\\Local\\Temp\\x.txt",
        "C:/Users/ann/AppData/Local/Temp/y",
        PureWindowsPath("C:\\Users\\ann\\AppData\\Local\\Temp\\z"),
    ],
)
def test_a_path_under_a_temporary_folder_is_found(value: object) -> None:
    (finding,) = look({"workdir": value})
    assert (finding.kind, finding.path) == ("path.temporary", ("f", "workdir"))
    assert "Scratch" in finding.advice


@pytest.mark.parametrize(
    "value",
    [
        "/scratch is full",
        "I wrote it to /scratch/x.txt",
        "/scratch/x is where I wrote the report to",
        "/scratchy/x",
        "/scratch/../etc/hosts",
        "/home/ann/x",
        "/variable/folders",
        "scratch/x",
        "/scratch/a\n/scratch/b",
        "C:\\Users\\ann\\x.txt",
        "https://example.org/scratch/x",
        "D:\\Temp\\x",
        "/",
    ],
)
def test_other_paths_and_prose_about_paths_are_not_found(value: str) -> None:
    assert not look([value])


def test_a_path_that_this_process_made_is_found_wherever_it_lies() -> None:
    made = frozenset({"/srv/scratch/run-1", "D:\\scratch\\run-2"})
    assert look("/srv/scratch/run-1", made)
    assert look("/srv/scratch/run-1/out/page.html", made)
    assert look("D:\\scratch\\run-2\\x", made)
    assert not look("/srv/scratch/run-2", made)
    assert not look("/srv/scratch", made)


def test_paths_made_after_the_scanner_are_found() -> None:
    made: set[str] = set()
    scanner = Scanner(KnownValues(), ROOTS, made)
    made.add("/data/later")
    assert scanner.leaves("/data/later/a", ("f",), name="f", parts=lambda _: None)
