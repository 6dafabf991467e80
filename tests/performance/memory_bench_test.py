"""`./dev bench memory`: its table and its plot."""

import pathlib
from xml.dom import minidom

from bench import curves, memory, train_jobs

WHOLE = {"network": "A <net>", "threads": 1, "system": "100%", "arena": 2 << 20, "bytes": 8 << 20, "milliseconds": 10.0}
ROWS = [
    WHOLE,
    {**WHOLE, "system": "50%", "arena": 1 << 20, "bytes": 4 << 20, "milliseconds": 12.0},
    {"network": "A <net>", "threads": 1, "system": "25%", "failure": "no smaller"},
    {**WHOLE, "system": "torch", "arena": None, "bytes": 16 << 20, "milliseconds": 20.0},
]


def test_times_are_parts_of_the_one_without_a_budget():
    lines = memory.table(ROWS)
    assert lines[2] == "| A <net> | 1 | 100% | 2.00 | 8.00 | 10.0 | 1.00 |"
    assert lines[3] == "| A <net> | 1 | 50% | 1.00 | 4.00 | 12.0 | 1.20 |"
    assert lines[4].endswith("| - | - | - | no smaller |")
    assert lines[5] == "| A <net> | 1 | torch | - | 16.0 | 20.0 | 2.00 |"


def test_the_plot_has_a_point_for_each_measured_row():
    page = minidom.parseString(curves.svg([*ROWS, {**WHOLE, "network": "another"}]))
    circles = page.getElementsByTagName("circle")
    assert len(circles) == 4 and len(page.getElementsByTagName("g")) == 2
    # Less memory stands further left, more time higher up.
    whole, half, torch = ((float(each.getAttribute("cx")), float(each.getAttribute("cy"))) for each in circles[:3])
    assert half[0] < whole[0] < torch[0] and torch[1] < half[1] < whole[1]


def test_a_refused_budget_adds_a_row_of_the_smallest(monkeypatch):
    def budgeted(job, budget, folder):
        refused = budget in (0.35, 0.25)
        return f"but the smallest arena that was found takes {500 - 100 * budget:.0f}" if refused else budget

    monkeypatch.setattr(memory, "_budgeted", budgeted)
    systems = memory._budgeted_systems({"net": "unet"}, pathlib.Path())
    assert list(systems) == ["100%", "75%", "50%", "35%", "25%", "smallest"]
    assert systems["100%"] is None and systems["50%"] == 0.5 and systems["smallest"] == 465


def test_large_networks_have_budgets_in_bytes(monkeypatch):
    monkeypatch.setattr(memory, "_budgeted", lambda job, budget, folder: budget)
    systems = memory._budgeted_systems({"net": "resnet50_32"}, pathlib.Path())
    assert systems == {"100%": None, "1.45 GiB": 1556925644, "0.75 GiB": 805306368}
    tiny = memory._budgeted_systems({"net": "resnet50_32", "tiny": True}, pathlib.Path())
    assert list(tiny) == ["100%", "75%", "50%", "35%", "25%"]


def test_each_network_has_a_small_one_of_its_kind():
    assert train_jobs.TINY_JOBS.keys() == {*memory.NETS, *memory.LARGE}
    assert memory.LARGE.keys() == train_jobs.LARGE_MEMORY_JOBS.keys()
    for name in train_jobs.TINY_JOBS:
        whole, tiny = train_jobs.find({"net": name}), train_jobs.find({"net": name, "tiny": True})
        inputs, labels = train_jobs.data(tiny)
        assert len(inputs) == len(labels) == tiny.batch <= whole.batch
        assert tiny.sizes.keys() == whole.sizes.keys()
