"""docs/ops.md is what make_table.py writes."""

import make_table


def test_the_table_is_up_to_date():
    assert make_table.TABLE.read_text(encoding="utf-8") == make_table.make_table(), "run tests/ops/make_table.py"
