"""`./dev bench memory`: its table and its plot."""

from xml.dom import minidom

from bench import curves, memory

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
