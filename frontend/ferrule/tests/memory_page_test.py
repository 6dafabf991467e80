"""The page of `ferrule view memory`: its data are the plan's, and its script runs."""

import json
import pathlib
import re

import ferrule as fer
import ferrule.functional as F
import pytest
import quickjs
from ferrule.cli.main import main
from ferrule.cli.view import memory_page

# As much of a browser as the script asks for: elements remember their children, listeners and text, and a canvas
# counts what is drawn.
BROWSER = """
let drawn = {};
const context = new Proxy({}, {
  get: (target, name) => name in target ? target[name] : (...values) => { drawn[name] = (drawn[name] || 0) + 1; },
  set: (target, name, value) => { target[name] = value; return true; },
});
function makeElement() {
  return {
    children: [], listeners: {}, style: {}, value: "", textContent: "", clientWidth: 1000, clientHeight: 500,
    replaceChildren(...children) {
      this.children = children;
      if (children.length && "value" in children[0]) this.value = children[0].value;
    },
    appendChild(child) { this.children.push(child); },
    append(child) { this.children.push(child); },
    addEventListener(name, listener) { this.listeners[name] = listener; },
    getContext: () => context,
  };
}
const elements = {};
const page = {
  body: {}, createElement: makeElement,
  getElementById: (name) => elements[name] = elements[name] || makeElement(),
};
const view = {
  innerWidth: 1000, innerHeight: 800, listeners: {}, getComputedStyle: () => ({color: "#000"}),
  addEventListener(name, listener) { this.listeners[name] = listener; },
};
const textOf = (element) => element.textContent + element.children.map(
    (child) => typeof child === "string" ? child : textOf(child)).join("|");
"""


def compile_chain(width):
    def chain(x):
        for _ in range(3):
            x = F.softmax(F.matmul(x, F.transpose(x, (1, 0))), axis=1)
        return x

    def once(x):
        return F.matmul(x, F.transpose(x, (1, 0))).sum()

    n = fer.Dim("n", min=1, max=width)
    return fer.compile({"chain": (chain, [fer.Spec((n, width), name="x")]), "once": (once, [fer.Spec((width, 8), name="x")])})


def parts(page):
    """(the data, the script) of a page."""
    data = re.search(r'<script type="application/json" id="plans">(.*?)</script>', page, re.DOTALL).group(1)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 1
    return data, scripts[0]


def start(page):
    """The page's script after it has started in a browser of sorts."""
    data, script = parts(page)
    context = quickjs.Context()
    context.eval(BROWSER)
    context.eval(script)
    context.set("plans_text", data)
    context.eval('page.getElementById("plans").textContent = plans_text; start(page, view);')
    return context


@pytest.fixture(scope="module")
def programs():
    return {"wide </script>": compile_chain(64), "narrow": compile_chain(16)}


@pytest.fixture(scope="module")
def page(programs):
    return memory_page(programs)


def test_the_data_are_the_plans(page, programs):
    data, _ = parts(page)
    plans = json.loads(data)
    assert [plan["label"] for plan in plans] == list(programs)
    for plan, program in zip(plans, programs.values()):
        assert [entry["name"] for entry in plan["entries"]] == program.entries
        for entry in plan["entries"]:
            assert entry["peak_bytes"] == program.memory(entry["name"])["peak"]
            assert entry["lower_bound_bytes"] == program.memory(entry["name"])["lower_bound"]
            assert entry["buffers"] == program.memory_plan(entry["name"])["buffers"]


def test_the_page_needs_nothing_else(page):
    assert not re.search(r"""(src|href)\s*=|url\(|https?:|@import|import\s*\(|fetch\(""", page)
    assert page.count("</script>") == 2 and "@PLANS@" not in page and "@SCRIPT@" not in page


def test_it_draws_each_buffer(page, programs):
    context = start(page)
    arena = [b for b in programs["wide </script>"].memory_plan("chain")["buffers"] if b["storage"] == "arena"]
    assert context.eval("drawn.fillRect") == len(arena)
    numbers = context.eval('textOf(page.getElementById("numbers"))')
    assert f"({programs['wide </script>'].memory('chain')['peak']:,} bytes)" in numbers
    table = context.eval('textOf(page.getElementById("largest"))')
    assert "memory_page_test.py:" in table and "matmul" in table


def test_another_entry_and_another_artifact(page, programs):
    context = start(page)
    context.eval('elements.entry.value = "1"; elements.entry.listeners.change();')
    peak = programs["wide </script>"].memory("once")["peak"]
    assert f"({peak:,} bytes)" in context.eval("textOf(elements.numbers)")
    # The entry's name is kept.
    context.eval('elements.artifact.value = "1"; elements.artifact.listeners.change();')
    assert context.eval("elements.entry.value") == "1"
    assert f"({programs['narrow'].memory('once')['peak']:,} bytes)" in context.eval("textOf(elements.numbers)")


def test_hovering_tells_what_a_buffer_is(page, programs):
    context = start(page)
    plan = programs["wide </script>"].memory_plan("chain")
    largest = max((b for b in plan["buffers"] if b["storage"] == "arena"), key=lambda b: b["planned_bytes"])
    count = len(plan["timeline"])
    # The chart is 1000 x 500 with margins of 78 and 14, 14 and 26, and its top is 4 % above the peak.
    x = 78 + (largest["first_time"] + 0.5) / count * (1000 - 78 - 14)
    y = 14 + (1 - (largest["offset"] + 32) / (plan["peak_bytes"] * 1.04)) * (500 - 14 - 26)
    context.eval(f"elements.chart.listeners.mousemove({{offsetX: {x}, offsetY: {y}, clientX: 0, clientY: 0}});")
    assert context.eval("elements.tip.style.display") == "block"
    tip = context.eval("elements.tip.textContent")
    assert f"{largest['planned_bytes']:,} bytes, {largest['size']} in a call" in tip
    assert re.search(r"made by \d+: \S+ at memory_page_test\.py:\d+", tip) and "live for" in tip
    context.eval("elements.chart.listeners.mousemove({offsetX: 1, offsetY: 1, clientX: 0, clientY: 0});")
    assert context.eval("elements.tip.style.display") == "none"


def test_zooming_stays_inside(page):
    context = start(page)
    zoomed = json.loads(context.eval("JSON.stringify(zoom({begin: 0, end: 100}, 25, 0.5, 100))"))
    assert zoomed == {"begin": 12.5, "end": 62.5}
    assert json.loads(context.eval("JSON.stringify(zoom({begin: 10, end: 60}, 10, 4, 100))")) == {"begin": 0, "end": 100}
    assert json.loads(context.eval("JSON.stringify(moveTo(90, 50, 100))")) == {"begin": 50, "end": 100}


def test_axes_are_labelled_at_round_numbers(page):
    context = start(page)

    def numbers(*arguments):
        return json.loads(context.eval(f"JSON.stringify(roundNumbers({', '.join(map(str, arguments))}))"))

    mib = 1 << 20
    assert numbers(0, 49.9 * mib, 2, [1]) == [0, 16 * mib, 32 * mib, 48 * mib]
    assert numbers(0, 19, 10, [1, 2, 5]) == [0, 5, 10, 15]
    assert numbers(12.5, 62.5, 10, [1, 2, 5]) == [20, 30, 40, 50, 60]
    assert numbers(3, 4.5, 10, [1, 2, 5]) == [3, 4]  # No step is shorter than an instruction.


def test_texts(page):
    context = start(page)
    assert context.eval("bytesText(512)") == "512 B"
    assert context.eval("bytesText(1536)") == "1.50 KiB"
    assert context.eval("bytesText(1.5 * 1024 ** 3)") == "1.50 GiB"
    assert context.eval("exactText(24955392)") == "24,955,392 bytes"


def test_the_command(tmp_path, capsys, programs):
    paths = []
    for folder, program in zip("ab", programs.values()):
        (tmp_path / folder).mkdir()
        paths.append(str(tmp_path / folder / "net.fer"))
        program.save(paths[-1])
    assert main(["view", "memory", paths[0]]) == 0
    written = pathlib.Path(tmp_path / "a" / "net.memory.html")
    assert json.loads(parts(written.read_text())[0])[0]["label"] == "net"
    assert str(written) in capsys.readouterr().out
    # Of two files of one name the whole path is shown.
    assert main(["view", "memory", *paths, "-o", str(tmp_path / "both.html")]) == 0
    plans = json.loads(parts((tmp_path / "both.html").read_text())[0])
    assert [plan["label"] for plan in plans] == paths
    assert main(["view", "memory", str(tmp_path / "missing.fer")]) == 1
