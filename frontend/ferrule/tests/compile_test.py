"""From Python functions to an artifact and back: names, signatures, sessions."""

import json
import subprocess
import sys

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
import numpy as np
import pytest
from ferrule.autodiff import GradManager
from ferrule.errors import ExecutionError, FerruleError, TraceError, UnsupportedError
from ferrule.jit import trace


def data(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def make():
    fer.random.seed(0)
    net = M.Sequential(M.Linear(4, 8), M.ReLU(), M.Linear(8, 3))
    gm, opt = GradManager().attach(net.parameters()), optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def train(image, label):
        net.train()
        with gm:
            loss = F.nn.cross_entropy(net(image), label)
            gm.backward(loss)
        opt.step().clear_grad()
        return {"loss": loss, "correct": F.sum(F.argmax(net(image), 1) == label)}

    def predict(image):
        return F.softmax(net.eval()(image), 1)

    return net, train, predict


@pytest.fixture(scope="module")
def program():
    _, train, predict = make()
    batch = fer.Dim("batch", min=1, max=32)
    image = fer.Spec((batch, 4))
    return fer.compile({"train": (train, [image, fer.Spec((batch,), "int32")]), "predict": (predict, [image])})


def test_names_and_signature(program):
    assert program.entries == ["train", "predict"]
    names = {v["name"]: v["role"] for v in program.variables()}
    assert names["net.0.weight"] == "parameter" and names["opt.lr"] == "schedule"
    assert names["opt.net.0.weight.momentum_buffer"] == "optimizer_state" and len(names) == 9
    signature = program.signature("train")
    assert [spec["name"] for spec in signature["inputs"]] == ["image", "label"]
    assert [spec["name"] for spec in signature["outputs"]] == ["out.loss", "out.correct"]
    assert signature["dims"][0]["name"] == "batch" and signature["dims"][0]["max"] == 32
    memory = program.memory("train")
    assert memory["lower_bound"] <= memory["peak"] <= memory["naive"]


def test_session_equals_dynamic_mode(program):
    net, train, predict = make()
    session = fer.Session(program, threads=2)
    image, label = data(6, 4), np.array([0, 1, 2, 0, 1, 2], "int32")
    np.testing.assert_array_equal(session.run("predict", image)[0], predict(fer.tensor(image)).numpy())
    for _ in range(5):
        wanted = train(fer.tensor(image), fer.tensor(label))
        loss, correct = session.run("train", image=image, label=label)
        assert loss == wanted["loss"].numpy() and correct == wanted["correct"].numpy()
    for name, value in net.state_dict().items():
        np.testing.assert_array_equal(session["net." + name], value, err_msg=name)


def test_save_load_variables_checkpoints(program, tmp_path):
    path = tmp_path / "net.fer"
    program.save(path)
    loaded = fer.load(path, verify="all", expected_sha256=program.root_sha256)
    assert loaded.entries == program.entries and loaded.sizes() == program.sizes()
    loaded.save(tmp_path / "again.fer")
    assert (tmp_path / "again.fer").read_bytes() == path.read_bytes()
    session = fer.Session(loaded, threads=1)
    initial = session["net.0.bias"]
    session["net.0.bias"] = initial + 1
    session.save_checkpoint(tmp_path / "state", position={"seed": 1, "epoch": 2, "sample": 3, "step": 4})
    other = fer.Session(program, threads=1)
    assert other.load_checkpoint(tmp_path / "state") == {"seed": 1, "epoch": 2, "sample": 3, "step": 4}
    np.testing.assert_array_equal(other["net.0.bias"], initial + 1)
    other.reset()
    np.testing.assert_array_equal(other["net.0.bias"], initial)
    shared = fer.Session(loaded, threads=1, share=session)
    np.testing.assert_array_equal(shared["net.0.bias"], initial + 1)
    with pytest.raises(ExecutionError, match="net.9.*net.0.weight"):
        session["net.9"] = initial
    with pytest.raises(ExecutionError, match=r"\(8,\).*\(3,\)"):
        session["net.0.bias"] = np.zeros(3, "float32")


def test_compiling_twice_gives_the_same_bytes(tmp_path):
    files = []
    for name in ("a", "b"):
        _, _, predict = make()
        fer.compile({"predict": (predict, [fer.Spec((2, 4))])}).save(tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]


def test_a_module_as_an_entry_and_trees_of_specs():
    net = M.Linear(3, 2)
    program = fer.compile({"main": (net, [fer.Spec((2, 3))])}, modules={"head": net})
    assert {v["name"] for v in program.variables()} == {"head.weight", "head.bias"}
    x = data(2, 3)
    np.testing.assert_array_equal(fer.Session(program).run("main", x)[0], net(fer.tensor(x)).numpy())

    def scale(batch, factor):
        return batch["image"] * factor, [batch["more"][0]]

    specs = [{"image": fer.Spec((2,)), "more": (fer.Spec((3,), name="extra"),)}, 3.0]
    program = fer.compile({"scale": (scale, specs)})
    assert [spec["name"] for spec in program.signature("scale")["inputs"]] == ["batch.image", "extra"]
    a, b = fer.Session(program).run("scale", data(2), extra=data(3))
    np.testing.assert_array_equal(a, data(2) * np.float32(3))
    np.testing.assert_array_equal(b, data(3))


def test_gradients_left_by_an_entry_accumulate_in_the_artifact():
    weight = fer.Parameter(np.ones(2, "float32"))
    gm = GradManager().attach([weight])

    def backward(x):
        with gm:
            gm.backward(F.sum(weight * x))

    session = fer.Session(fer.compile({"backward": (backward, [fer.Spec((2,))])}))
    assert weight.grad is None
    for times in (1, 2, 3):
        session.run("backward", np.array([1, 3], "float32"))
        assert session["weight.grad"].tolist() == [times, 3 * times]


def test_an_artifact_of_a_gradient_for_its_input_alone(tmp_path):
    """Nothing is trained: the weights are read, no optimizer and no other gradient is in the program."""
    net = M.Sequential(M.Linear(3, 5), M.Tanh(), M.Linear(5, 1))
    cost = lambda x: F.sum(net(x) * net(x))  # noqa: E731
    program = fer.compile({"slope": (fer.grad(cost), [fer.Spec((2, 3))])}, modules={"net": net})
    program.save(tmp_path / "slope.fer")
    session = fer.Session(fer.load(tmp_path / "slope.fer"))
    before = {name: session[name] for name in session.variables()}
    assert sorted(before) == sorted(f"net.{name}" for name in net.state_dict())
    x = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]], "float32")
    (slope,) = session.run("slope", x)
    np.testing.assert_array_equal(slope, fer.grad(cost)(fer.tensor(x)).numpy())
    step = 1e-2 * np.eye(6, dtype="float32").reshape(6, 2, 3)
    differences = [(cost(fer.tensor(x + d)).item() - cost(fer.tensor(x - d)).item()) / 2e-2 for d in step]
    np.testing.assert_allclose(slope.ravel(), differences, rtol=2e-2, atol=2e-3)
    for name, value in before.items():
        np.testing.assert_array_equal(session[name], value)
    session = fer.Session(fer.compile({"slopes": (fer.grad(lambda a, b: F.sum(a + b), (0, 1)), [fer.Spec((2,))] * 2)}))
    assert [slope.tolist() for slope in session.run("slopes", x[0, :2], x[1, :2])] == [[1, 1], [1, 1]]


def test_variables_without_a_name_are_refused():
    hidden = [fer.Parameter(np.ones(3, "float32"))]
    holder = {0.5: hidden}
    with pytest.raises(FerruleError, match=r"parameter of shape \(3,\).*modules="):
        fer.compile({"main": (lambda x: x * holder[0.5][0], [fer.Spec((3,))])})
    program = fer.compile({"main": (lambda x: x * holder[0.5][0], [fer.Spec((3,))])}, modules={"list": hidden})
    assert program.variables()[0]["name"] == "list.0"


def test_wrong_entries_and_options_are_refused():
    f, spec = (lambda x: x * 2.0), fer.Spec((3,))
    for call, pattern in (
        (lambda: fer.compile({}), "no entries"),
        (lambda: fer.compile({"f": f}), "wanted"),
        (lambda: fer.compile({"f": (3, [spec])}), "int"),
        (lambda: fer.compile({"f": (f, [spec, spec])}), "parameters"),
        (lambda: fer.compile({"f": (f, [spec])}, allow_reassociation=True), "allow_reassociation"),
    ):
        with pytest.raises(UnsupportedError, match=pattern):
            call()


def test_undecided_comparisons_are_refused():
    def f(x):
        return x * 2.0 if x.shape[0] > 8 else x

    line = f.__code__.co_firstlineno + 1
    with pytest.raises(TraceError, match=rf"(?s)n.*8.*compile_test.py:{line}|compile_test.py:{line}.*n"):
        fer.compile({"f": (f, [fer.Spec((fer.Dim("n", max=16),))])})


def test_command_line(program, tmp_path):
    path = tmp_path / "net.fer"
    program.save(path)

    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "ferrule", *map(str, arguments)], capture_output=True, text=True)

    facts = json.loads(run("info", path, "--json").stdout)
    assert set(facts["entries"]) == {"train", "predict"} and facts["sizes"]["file"] == path.stat().st_size
    text = run("info", path).stdout
    assert "entry train" in text and "net.0.weight" in text and "lower bound" in text
    missing = run("info", tmp_path / "nowhere.fer")
    assert missing.returncode == 1 and "nowhere.fer" in missing.stderr
    assert run("info").returncode == 2 and "Examples" in run("info", "--help").stdout


def test_artifacts_run_without_the_compiler(program, tmp_path):
    path = tmp_path / "net.fer"
    program.save(path)
    script = (
        "import sys; sys.modules['ferrule._compiler'] = None\n"
        "import numpy as np, ferrule as fer\n"
        f"print(fer.Session(fer.load({str(path)!r})).run('predict', np.ones((1, 4), 'float32'))[0].shape)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "(1, 3)", done.stderr


def test_plan_at_serves_dims_without_a_max():
    length = fer.Dim("length")

    @trace(symbolic=True)
    def scaled(x):
        e = F.exp(x)  # Read twice, so it lies in the arena.
        return e - F.sum(e, axis=0)

    spec = fer.Spec((length, 4))
    with pytest.raises(FerruleError, match="no upper bound.*plan_at"):
        fer.compile({"scaled": (scaled, [spec])})
    program = fer.compile({"scaled": (scaled, [spec])}, plan_at={length: 8})
    session = fer.Session(program)
    for rows in (8, 1, 5):
        x = np.arange(rows * 4, dtype=np.float32).reshape(rows, 4) / 16
        np.testing.assert_allclose(session.run("scaled", x)[0], np.exp(x) - np.exp(x).sum(0), rtol=1e-5, atol=1e-5)
    bounded = fer.Session(program, arena_limit=session.info()["arena_bytes"])
    refusal = r"the arena needs \d+ bytes; allowed are \d+, for entry 'scaled' with 'length' = 100"
    with pytest.raises(MemoryError, match=refusal):
        bounded.run("scaled", np.zeros((100, 4), np.float32))
    x = np.arange(400, dtype=np.float32).reshape(100, 4) / 400
    np.testing.assert_allclose(session.run("scaled", x)[0], np.exp(x) - np.exp(x).sum(0), rtol=1e-5, atol=1e-5)
    assert session.info()["arena_bytes"] > bounded.info()["arena_bytes"]


def test_plan_at_refuses_what_it_cannot_serve():
    @trace(symbolic=True)
    def scaled(x):
        return x * 2.0

    bounded, free = fer.Dim("rows", max=4), fer.Dim("free", min=2, multiple_of=2)
    for spec, sizes, message in (
        (fer.Spec((bounded,)), {"rows": 4}, "dim 'rows' has the max 4"),
        (fer.Spec((free,)), {"other": 4}, "no entry has a dim 'other'"),
        (fer.Spec((free,)), {"free": 3}, "3 is no size of dim 'free'"),
        (fer.Spec((free,)), {"free": 2.5}, "allowed is an int"),
    ):
        with pytest.raises(FerruleError, match=message):
            fer.compile({"scaled": (scaled, [spec])}, plan_at=sizes)
