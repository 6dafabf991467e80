"""`./dev bench plan`: what it counts of a network, and its tables."""

import pytest
from bench import plan


def test_a_network_in_training(monkeypatch):
    monkeypatch.setenv("FERRULE_PROGRAM_CACHE", "off")
    (row,) = plan.measure("train.lenet")
    assert (row["network"], row["entry"]) == ("train.lenet", "train_step")
    assert row["lower_bound"] <= row["peak"] <= 1.01 * row["lower_bound"] and row["peak"] < row["naive"]
    assert row["buffers"] > 20 and 0 < row["plan_seconds"] < 60
    table = plan.plan_table([row])
    assert f"{row['peak']:,} | 1.0" in table[-1]


def test_problems_and_their_means():
    problem = {"problem": "A", "intervals": 2, "by_size": 1.0, "greedy": 2.0, "quick": 1.0, "quick_seconds": 0.5,
               "full": 1.0, "full_seconds": 2.0, "fits": True}  # fmt: skip
    other = {**problem, "problem": "B", "by_size": 4.0, "fits": False}
    last = [cell.strip() for cell in plan.problem_table([problem, other])[-1].strip("|").split("|")]
    assert last == ["geometric mean, sum", "", "2.000", "2.000", "1.000", "", "1.000", "4.0", "1 of 2"]


def test_json_is_what_the_planner_prints():
    if not plan.BENCHMARK.exists():
        pytest.skip("./dev bench plan makes planner_bench")
    planner = plan.run_planner()
    problems, random = planner["minimalloc"], planner["random"]
    assert [each["problem"] for each in problems] == list("ABCDEFGHIJK")
    assert all(1 <= each["full"] <= each["quick"] <= each["greedy"] <= each["by_size"] for each in problems)
    assert sum(each["fits"] for each in problems) >= 9
    assert [each["intervals"] for each in random] == [1000] * 4 + [5000] * 4
    assert all(1 <= each["compiler"] <= each["greedy"] for each in random)
    assert len(plan.random_table(random)) == 2 + len(random)
