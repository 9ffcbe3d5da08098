"""Data flow against what programs really do: no run may contradict `dump flow` and `dump liveness`.

GRAPHMEND_FLOW_PROGRAMS sets the number of programs, GRAPHMEND_BIN names the command.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from flow_programs import NAMES, PARAMETERS, write_program
from flow_recorder import Event, Recorder

_PROGRAMS = int(os.environ.get("GRAPHMEND_FLOW_PROGRAMS", "400"))
_RUNS = 12
_BATCH = 100
_FIRST_SEED = 5_000

_READ = re.compile(r"; (\d+:\d+) (shares )?(\w+)(?: from ([^;]*))?")


@dataclass
class Facts:
    """What graphmend says of one program. Places are "line:column"."""

    # Place of a read: definitions that may reach it.
    reaching: dict[str, set[str]] = field(default_factory=dict)
    # Place of a statement: lists of names by label.
    statements: dict[str, dict[str, set[str]]] = field(default_factory=dict)


def dump(graphmend: str, kind: str, path: Path) -> list[str]:
    done = subprocess.run([graphmend, "dump", kind, str(path)], capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def read_facts(graphmend: str, path: Path, starts: list[int]) -> list[Facts]:
    """The facts of programs that stand one after the other in one file, each beginning at one of the lines `starts`."""
    all_facts = [Facts() for _ in starts]

    def relative(place: str) -> tuple[int, str]:
        line, column = map(int, place.split(":"))
        index = max(i for i, start in enumerate(starts) if start <= line)
        return index, f"{line - starts[index] + 1}:{column}"

    def own(definition: str) -> str:
        kind, at, place = definition.rpartition("@")
        return kind + at + relative(place)[1] if ":" in place else place

    inside = False
    for line in dump(graphmend, "flow", path):
        if not line.startswith(" "):
            inside = line.startswith("function f ")
        if not inside:
            continue
        for place, shared, _, definitions in _READ.findall(line):
            if not shared:
                index, key = relative(place)
                found = {own(word) for word in definitions.split(" or ")} if definitions else set()
                all_facts[index].reaching.setdefault(key, set()).update(found)
    for line in dump(graphmend, "liveness", path):
        if not line.startswith(" "):
            inside = line.startswith("function f ")
        elif inside:
            head, *lists = line.split(" | ")
            index, key = relative(head.split()[0])
            all_facts[index].statements[key] = {
                label: set(names.split()) for label, _, names in (part.partition(":") for part in lists)
            }
    return all_facts


@dataclass
class Checker:
    """Goes through the events of one run. `counts` says how often each claim was put to the test."""

    facts: Facts
    # Place of a statement: its last line.
    ends: dict[str, int]
    counts: Counter[str]
    problems: list[str] = field(default_factory=list)

    def expect(self, ok: bool, what: str, message: str) -> None:
        self.counts[what] += 1
        if not ok:
            self.problems.append(f"{what}: {message}")

    def check(self, events: list[Event]) -> None:
        self.check_reaching(events)
        live = self.names_read_next(events)
        # Statements that have begun, and at which event.
        running: list[tuple[str, int]] = []

        def leave(i: int) -> None:
            place, begin = running.pop()
            facts = self.facts.statements[place]
            self.check_live(live[i], facts["out"] | facts["raise"], "live after leaving", place)
            self.check_inside(place, events[begin:i])

        for i, event in enumerate(events):
            if event.in_closure:
                continue
            # A statement that was left by a jump or an exception is over when something outside of it happens.
            while running and not self.is_inside(event, running[-1][0]):
                leave(i)
            if event.kind == "begin":
                self.check_live(live[i], self.facts.statements[event.place]["in"], "live in", event.place)
                running.append((event.place, i))
            elif event.kind == "done":
                while running[-1][0] != event.place:
                    leave(i)
                place, begin = running.pop()
                self.check_live(live[i], self.facts.statements[place]["out"], "live out", place)
                self.check_inside(place, events[begin:i])
                self.check_must(place, events[begin:i])
        while running:
            leave(len(events))

    def is_inside(self, event: Event, place: str) -> bool:
        if event.kind == "begin" and event.place == place:
            return False
        return int(place.split(":")[0]) <= int(event.place.split(":")[0]) <= self.ends[place]

    def check_reaching(self, events: list[Event]) -> None:
        now = {name: "entry" if name in PARAMETERS else "unbound" for name in NAMES}
        for event in events:
            if event.kind == "write":
                now[event.name] = ("closure@" if event.in_closure else "") + event.place
            elif event.kind == "delete":
                now[event.name] = "del@" + event.place
            elif event.kind == "read" and not event.in_closure:
                found = self.facts.reaching.get(event.place, set())
                by_closure = now[event.name].startswith("closure@")
                ok = any(d.startswith("closure@") for d in found) if by_closure else now[event.name] in found
                self.expect(ok, "reaching", f"{event.name} at {event.place} is from {now[event.name]}, not {found}")

    def names_read_next(self, events: list[Event]) -> list[set[str]]:
        """For each event, and for the end, the names whose next use from it on is a read."""
        result: list[set[str]] = [set()] * (len(events) + 1)
        for i in range(len(events) - 1, -1, -1):
            result[i] = set(result[i + 1])
            if events[i].kind in ("read", "peek"):
                result[i].add(events[i].name)
            elif events[i].kind in ("write", "delete"):
                result[i].discard(events[i].name)
        return result

    def check_live(self, read: set[str], live: set[str], what: str, place: str) -> None:
        self.expect(read <= live, what, f"at {place} {sorted(read - live)} are read later")

    def check_inside(self, place: str, events: list[Event]) -> None:
        facts = self.facts.statements[place]
        written: set[str] = set()
        for event in events:
            if event.in_closure:
                continue
            if event.kind in ("write", "delete"):
                written.add(event.name)
                self.expect(event.name in facts["may"], "may assign", f"{place} changes {event.name}")
            elif event.kind in ("read", "peek"):
                self.expect(event.name in facts["reads"], "reads", f"{place} reads {event.name}")
                if event.name not in written:
                    self.expect(event.name in facts["needs"], "needs", f"{place} needs {event.name}")

    def check_must(self, place: str, events: list[Event]) -> None:
        bound: set[str] = set()
        for event in events:
            if event.kind == "write":
                bound.add(event.name)
            elif event.kind == "delete":
                bound.discard(event.name)
        must = self.facts.statements[place]["must"] & set(NAMES)
        self.expect(must <= bound, "must assign", f"{place} does not bind {sorted(must - bound)}")


def last_lines(text: str) -> dict[str, int]:
    """The last line of each statement, by its place."""
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt))
    return {f"{node.lineno}:{node.col_offset}": node.end_lineno or node.lineno for node in nodes}


def check_batch(graphmend: str, folder: Path, seeds: range, counts: Counter[str]) -> list[str]:
    texts = [write_program(seed) for seed in seeds]
    starts = []
    line = 1
    for text in texts:
        starts.append(line)
        line += text.count("\n")
    path = folder / "programs.py"
    path.write_text("".join(texts), encoding="utf-8")
    complaints = []
    for seed, text, facts in zip(seeds, texts, read_facts(graphmend, path, starts), strict=True):
        recorder = Recorder(text)
        for run in range(_RUNS):
            checker = Checker(facts, last_lines(text), counts)
            events = recorder.run(run)
            checker.check(events)
            counts["events"] += len(events)
            if checker.problems:
                complaints.append(f"seed {seed} run {run}: {checker.problems[0]}\n{text}")
                break
    return complaints


def test_runs_do_not_contradict(graphmend: str, tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    complaints: list[str] = []
    for first in range(_FIRST_SEED, _FIRST_SEED + _PROGRAMS, _BATCH):
        seeds = range(first, min(first + _BATCH, _FIRST_SEED + _PROGRAMS))
        complaints += check_batch(graphmend, tmp_path, seeds, counts)
        if complaints:
            break
    assert not complaints, f"{len(complaints)} programs\n" + min(complaints, key=len)
    print(dict(counts))
    # A test of nothing would pass as well.
    for what in (
        "reaching",
        "live in",
        "live out",
        "live after leaving",
        "may assign",
        "must assign",
        "reads",
        "needs",
    ):
        assert counts[what] > 5 * _PROGRAMS, what


def without(facts: Facts, label: str) -> Facts:
    """The facts with one claim taken away; of "must", with too much claimed."""
    if label == "reaching":
        return Facts({place: set() for place in facts.reaching}, facts.statements)
    claim = set(NAMES) if label == "must" else set()
    return Facts(facts.reaching, {place: {**lists, label: claim} for place, lists in facts.statements.items()})


@pytest.mark.parametrize("label", ["in", "out", "needs", "may", "reads", "reaching", "must"])
def test_the_check_itself_fails_on_wrong_facts(graphmend: str, tmp_path: Path, label: str) -> None:
    """Some run must contradict."""
    path = tmp_path / "one.py"
    for seed in range(_FIRST_SEED, _FIRST_SEED + 20):
        text = write_program(seed)
        path.write_text(text, encoding="utf-8")
        (facts,) = read_facts(graphmend, path, [1])
        checker = Checker(without(facts, label), last_lines(text), Counter())
        checker.check(Recorder(text).run(0))
        if checker.problems:
            return
    pytest.fail(f"nothing is wrong without {label!r}")
