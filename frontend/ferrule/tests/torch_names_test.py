"""Every public name of PyTorch's layers, functions, optimizers and tensors is there or has a reason why not."""

import importlib.util
import pathlib

import pytest
from ferrule._absent import ABSENT

import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim


def _table():
    path = pathlib.Path(__file__).parent / "make_names_table.py"
    spec = importlib.util.spec_from_file_location("make_names_table", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


table = _table()
SECTIONS = table.torch_names()[1]


@pytest.mark.parametrize("section", SECTIONS)
def test_there_or_left_out_for_a_reason(section):
    left_out = [name for names in ABSENT.get(section, {}).values() for name in names.split()]
    assert len(left_out) == len(set(left_out))
    missing = {name for name in SECTIONS[section] if not hasattr(table.home(section), name)}
    assert missing - set(left_out) == set(), "neither there nor left out"
    assert set(left_out) - missing == set(), "left out, and there or unknown to PyTorch"


def test_the_page_is_up_to_date():
    assert table.PAGE.read_text() == table.page(), "run ./dev python frontend/ferrule/tests/make_names_table.py"


def test_a_name_that_is_left_out_says_why():
    for home, name, pattern in (
        (M, "LazyLinear", "ferrule.module' has no attribute 'LazyLinear': PyTorch's LazyLinear is left out: shapes are given"),
        (F, "relu_", "without the underscore"),
        (optim, "LBFGS", "calls the loss several times"),
        (F, "nothing_at_all", "'ferrule.functional' has no attribute 'nothing_at_all'$"),
    ):
        with pytest.raises(AttributeError, match=pattern):
            getattr(home, name)
