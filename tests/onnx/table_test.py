"""docs/onnx.md is what make_table.py writes."""

import pathlib
import runpy


def test_the_table_is_up_to_date():
    made = runpy.run_path(str(pathlib.Path(__file__).with_name("make_table.py")))
    assert made["TABLE"].read_text(encoding="utf-8") == made["make_table"](), "run tests/onnx/make_table.py"
