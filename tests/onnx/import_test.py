"""What the import does with shapes, versions, weights, bodies, and with files that are not right."""

import numpy as np
import onnx
import pytest
import small_models
from small_models import INT64, node, value

import ferrule as fer
import ferrule.functional as F
import ferrule.onnx
from ferrule.autodiff import GradManager
from ferrule.errors import DtypeError, ModelError, ShapeError, UnsupportedError


def run(proto, *arrays, **options):
    """The outputs of a model for arrays."""
    return fer.Session(ferrule.onnx.compile(proto, **options), threads=1).run("main", *arrays)


def random(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


# --- shapes -----------------------------------------------------------------------------------------------------------


def flattening():
    """The way exporters write x.reshape(x.shape[0], -1): Shape, Gather, Unsqueeze, Concat, Reshape."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape first", "size"),
        node("Unsqueeze", "size axes", "sizes"),
        node("Concat", "sizes rest", "target", axis=0),
        node("Reshape", "x target", "y"),
    ]
    stored = {"first": np.int64(0), "axes": np.array([0]), "rest": np.array([-1])}
    return small_models.model(nodes, [value("x", ["batch", 3, 4])], [value("y", None)], stored)


def test_arithmetic_on_shapes_of_numbers():
    x = random(5, 3, 4)
    (y,) = run(flattening(), x, shapes={"batch": 5})
    np.testing.assert_array_equal(y, x.reshape(5, 12))


def test_arithmetic_on_shapes_of_dims():
    program = ferrule.onnx.compile(flattening(), shapes={"batch": fer.Dim("batch", min=1, max=8)})
    assert program.signature("main")["outputs"][0]["shape_text"] == "[batch, 12]"
    session = fer.Session(program)
    for batch in (1, 5, 8):
        assert session.run("main", random(batch, 3, 4))[0].shape == (batch, 12)


def test_an_open_size_is_a_dim_that_is_planned_at_a_size():
    program = ferrule.onnx.compile(flattening(), plan_at={"batch": 4})
    assert fer.Session(program).run("main", random(3, 3, 4))[0].shape == (3, 12)


def test_shapes_as_values():
    """A size that is used as data: y = x * x.shape[0]."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape first", "size"),
        node("Cast", "size", "factor", to=small_models.FLOAT),
        node("Mul", "x factor", "y"),
    ]
    proto = small_models.model(nodes, [value("x", ["n"])], [value("y", None)], {"first": np.int64(0)})
    session = fer.Session(ferrule.onnx.compile(proto, shapes={"n": fer.Dim("n", min=1, max=9)}))
    np.testing.assert_array_equal(session.run("main", np.ones(7, np.float32))[0], np.full(7, 7, np.float32))


def test_a_size_that_the_data_decide_is_refused_with_node_and_input():
    inputs = [value("x", [4]), value("target", [2], INT64)]
    proto = small_models.model([node("Reshape", "x target", "y")], inputs, [value("y", None)])
    with pytest.raises(UnsupportedError, match=r"1 node \('Reshape_0'\): its input 1, 'target', must be known"):
        ferrule.onnx.compile(proto)
    (y,) = run(proto, random(4), values={"target": np.array([2, 2])})
    assert y.shape == (2, 2)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ShapeError, match=r"shapes names \['y'\]; the inputs are x: \(batch, 3, 4\)"):
        ferrule.onnx.compile(flattening(), shapes={"y": (1, 2)})
    with pytest.raises(ShapeError, match=r"gives 'x' the shape \(2, 5, 4\); the model says \(batch, 3, 4\)"):
        ferrule.onnx.compile(flattening(), shapes={"x": (2, 5, 4)})
    with pytest.raises(ModelError, match="values gives 'x' as float64 of rank 1; the model says float32 of rank 3"):
        ferrule.onnx.compile(flattening(), values={"x": np.zeros(3)})


def test_a_slice_up_to_a_symbolic_bound():
    """The way exporters cut a table of positions: table[:, :tokens]."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Slice", "table zero shape axis", "part"),
        node("Add", "x part", "y"),
    ]
    stored = {"table": random(16), "zero": np.array([0]), "axis": np.array([0])}
    proto = small_models.model(nodes, [value("x", ["tokens"])], [value("y", None)], stored)
    session = fer.Session(ferrule.onnx.compile(proto, shapes={"tokens": fer.Dim("tokens", min=1, max=16)}))
    for tokens in (1, 5, 16):
        (y,) = session.run("main", np.zeros(tokens, np.float32))
        np.testing.assert_array_equal(y, stored["table"][:tokens])


def test_resize_repeats_a_symbolic_axis():
    how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    scales = {"scales": np.array([1, 1, 2, 3], np.float32)}
    nodes = [node("Resize", "x - scales", "y", **how)]
    proto = small_models.model(nodes, [value("x", [1, 1, "h", 2])], [value("y", None)], scales)
    session = fer.Session(ferrule.onnx.compile(proto, shapes={"h": fer.Dim("h", min=1, max=4)}))
    x = random(1, 1, 3, 2)
    np.testing.assert_array_equal(session.run("main", x)[0], x.repeat(2, 2).repeat(3, 3))


# --- versions of the operator set -------------------------------------------------------------------------------------


@pytest.mark.parametrize("opset", (11, 13))
def test_softmax_counts_all_later_axes_as_one_before_version_13(opset):
    x = random(2, 3, 4)
    nodes = [node("Softmax", "x", "y", axis=1)]
    proto = small_models.model(nodes, [value("x", [2, 3, 4])], [value("y", None)], opset=opset)
    rows = np.exp(x.reshape(2, 12) if opset == 11 else x)
    expected = (rows / rows.sum(1, keepdims=True)).reshape(x.shape)
    np.testing.assert_allclose(run(proto, x)[0], expected, rtol=1e-6)


def test_integers_divide_towards_zero():
    """-7 / 2 = -3, where Ferrule's own // gives -4."""
    inputs = [value("a", [4], INT64), value("b", [4], INT64)]
    proto = small_models.model([node("Div", "a b", "y")], inputs, [value("y", None)])
    a, b = np.array([-7, 7, -7, 6]), np.array([2, -2, -2, 3])
    assert run(proto, a, b)[0].tolist() == [-3, -3, 3, 2]


def test_index_results_are_int64():
    proto = small_models.model([node("ArgMax", "x", "y", axis=0, keepdims=0)], [value("x", [3])], [value("y", None)])
    assert run(proto, np.array([1, 3, 2], np.float32))[0].dtype == np.int64


# --- functions, branches, loops ---------------------------------------------------------------------------------------


def test_a_function_of_the_model_is_imported_by_its_body():
    """affine(x) = x * scale + 1, with the attribute of the caller."""
    scale = onnx.helper.make_node("Constant", [], ["s"])
    kind = onnx.AttributeProto.FLOAT
    scale.attribute.append(onnx.AttributeProto(name="value_float", ref_attr_name="scale", type=kind))
    one = onnx.helper.make_node("Constant", [], ["one"], value_float=1.0)
    body = [scale, one, node("Mul", "x s", "scaled"), node("Add", "scaled one", "y")]
    function = onnx.helper.make_function(
        "local", "Affine", ["x"], ["y"], body, [onnx.helper.make_opsetid("", 18)], attributes=["scale"]
    )
    nodes = [onnx.helper.make_node("Affine", ["x"], ["y"], domain="local", scale=3.0)]
    proto = small_models.model(nodes, [value("x", [2])], [value("y", None)], functions=[function])
    assert run(proto, np.array([1, 2], np.float32))[0].tolist() == [4.0, 7.0]


def test_a_branch_that_the_data_decide():
    graphs = [
        onnx.helper.make_graph([node(operator, "x", "r")], operator, [], [value("r", [2])])
        for operator in ("Neg", "Abs")
    ]
    nodes = [node("If", "c", "y", then_branch=graphs[0], else_branch=graphs[1])]
    proto = small_models.model(nodes, [value("c", [], small_models.BOOL), value("x", [2])], [value("y", [2])])
    session = fer.Session(ferrule.onnx.compile(proto))
    x = np.array([1, -2], np.float32)
    assert session.run("main", np.array(True), x)[0].tolist() == [-1.0, 2.0]
    assert session.run("main", np.array(False), x)[0].tolist() == [1.0, 2.0]


def test_a_counted_loop_gives_its_last_value_and_those_of_all_steps():
    """Three steps of a = 2 a from [1]: last [8], all [2], [4], [8]."""
    body = onnx.helper.make_graph(
        [node("Identity", "go", "on"), node("Add", "a a", "b"), node("Identity", "b", "seen")],
        "body",
        [value("i", [], INT64), value("go", [], small_models.BOOL), value("a", [1])],
        [value("on", [], small_models.BOOL), value("b", [1]), value("seen", [1])],
    )
    nodes = [node("Loop", "count - x", "last all", body=body)]
    outputs = [value("last", [1]), value("all", None)]
    proto = small_models.model(nodes, [value("x", [1])], outputs, {"count": np.int64(3)})
    last, steps = run(proto, np.ones(1, np.float32))
    assert last.tolist() == [8.0] and steps.tolist() == [[2.0], [4.0], [8.0]]


# --- weights ----------------------------------------------------------------------------------------------------------


def linear():
    stored = {"fc.weight": random(3, 4), "fc.bias": np.zeros(3, np.float32)}
    nodes = [node("Gemm", "x fc.weight fc.bias", "y", transB=1)]
    return small_models.model(nodes, [value("x", ["n", 4])], [value("y", None)], stored), stored


def test_weights_are_variables_under_their_names():
    proto, stored = linear()
    program = ferrule.onnx.compile(proto, shapes={"n": 2})
    assert sorted(v["name"] for v in program.variables()) == ["fc.bias", "fc.weight"]
    session = fer.Session(program)
    np.testing.assert_array_equal(session["fc.weight"], stored["fc.weight"])
    session["fc.bias"] = np.array([1, 2, 3], np.float32)
    (y,) = session.run("main", np.zeros((2, 4), np.float32))
    assert y.tolist() == [[1.0, 2.0, 3.0]] * 2


def test_gates_are_joined_while_importing():
    """Two stored blocks in the other order become one variable of the name of their concatenation."""
    blocks = {"a": random(40, 4), "b": random(40, 4)}
    nodes = [node("Concat", "b a", "joined", axis=0), node("Gemm", "x joined", "y", transB=1)]
    proto = small_models.model(nodes, [value("x", [1, 4])], [value("y", None)], blocks)
    program = ferrule.onnx.compile(proto)
    (variable,) = program.variables()
    assert variable["name"] == "joined" and variable["shape"] == (80, 4)


@pytest.mark.parametrize("import_", (ferrule.onnx.compile, ferrule.onnx.load))
def test_a_convolution_of_a_vector_written_as_an_image(import_):
    """[1, 2, 6, 1] with a 3x1 kernel: the axis of size 1 is left out, and the result has it."""
    weight, x = random(4, 2, 3, 1), random(1, 2, 6, 1)
    nodes = [node("Conv", "x w", "y", pads=[1, 0, 1, 0])]
    proto = small_models.model(nodes, [value("x", x.shape)], [value("y", None)], {"w": weight})
    made = import_(proto)
    y = made(x)["y"].numpy() if import_ is ferrule.onnx.load else fer.Session(made).run("main", x)[0]
    padded = np.pad(x[0, :, :, 0], ((0, 0), (1, 1)))
    expected = [[(padded[:, i : i + 3] * weight[o, :, :, 0]).sum() for i in range(6)] for o in range(4)]
    assert y.shape == (1, 4, 6, 1)
    np.testing.assert_allclose(y[0, :, :, 0], expected, rtol=1e-5, atol=1e-6)


def test_a_loaded_model_can_be_trained():
    proto, _ = linear()
    model = ferrule.onnx.load(proto, shapes={"n": 8})
    assert sorted(model.weights) == ["fc.bias", "fc.weight"]
    gradients = GradManager().attach(model.weights.values())
    optimizer = fer.optimizer.SGD(list(model.weights.values()), lr=0.1)
    x, target = fer.Tensor(random(8, 4)), fer.Tensor(np.ones((8, 3), np.float32))
    losses = []
    for _ in range(20):
        with gradients:
            loss = F.mean((model(x)["y"] - target) ** 2)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


def test_weights_in_a_file_beside_the_model(tmp_path):
    proto, stored = linear()
    options = {"save_as_external_data": True, "location": "weights.bin", "size_threshold": 0}
    onnx.save(proto, tmp_path / "model.onnx", **options)
    x = random(2, 4)
    (y,) = run(tmp_path / "model.onnx", x, shapes={"n": 2})
    np.testing.assert_allclose(y, x @ stored["fc.weight"].T, rtol=1e-5)
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(ModelError, match="weights.bin"):
        ferrule.onnx.load(tmp_path / "model.onnx")


# --- what is refused --------------------------------------------------------------------------------------------------


def test_all_that_is_missing_is_listed_at_once():
    nodes = [node("Det", "x", "a"), node("Relu", "x", "b"), node("Det", "b", "c"), node("Bogus", "c", "y")]
    proto = small_models.model(nodes, [value("x", [2, 2])], [value("a", None), value("y", None)])
    with pytest.raises(UnsupportedError) as error:
        ferrule.onnx.load(proto)
    lines = str(error.value).splitlines()
    assert lines[0] == "test: 3 nodes cannot be imported"
    assert lines[1] == "  Det, 2 nodes ('Det_0', 'Det_2'): there is no import for version 18 of this operator"
    assert lines[2].startswith("  Bogus, 1 node ('Bogus_3')")


def test_nodes_that_no_output_needs_are_left_out():
    nodes = [node("Relu", "x", "y"), node("Bogus", "x", "z")]
    proto = small_models.model(nodes, [value("x", [2])], [value("y", None)])
    assert run(proto, np.array([-1, 1], np.float32))[0].tolist() == [0.0, 1.0]


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(ModelError, match="nothing.onnx: No such file"):
        ferrule.onnx.load(tmp_path / "nothing.onnx")
    (tmp_path / "text.onnx").write_text("this is no model")
    with pytest.raises(ModelError, match="text.onnx: no ONNX model, or damaged"):
        ferrule.onnx.load(tmp_path / "text.onnx")
    (tmp_path / "empty.onnx").write_bytes(b"")
    with pytest.raises(ModelError, match="it has no graph"):
        ferrule.onnx.load(tmp_path / "empty.onnx")
    proto, _ = linear()
    with pytest.raises(ModelError):
        ferrule.onnx.load(proto.SerializeToString()[:-40])


def test_a_graph_that_is_not_sorted():
    nodes = [node("Relu", "b", "y"), node("Neg", "x", "b")]
    proto = small_models.model(nodes, [value("x", [2])], [value("y", None)])
    with pytest.raises(ModelError, match=r"node 'Relu_0' \(Relu\) reads 'b', which no node before it makes"):
        ferrule.onnx.load(proto)


def test_an_argument_of_another_type_or_shape():
    model = ferrule.onnx.load(linear()[0], shapes={"n": 2})
    with pytest.raises(DtypeError, match="input 'x' is float32, not int64"):
        model(np.zeros((2, 4), np.int64))
    with pytest.raises(ShapeError, match=r"input 'x' has the shape \(2, 4\), given is \(3, 4\)"):
        model(np.zeros((3, 4), np.float32))


def test_an_error_names_the_node():
    weight = {"w": random(4, 5)}
    proto = small_models.model([node("MatMul", "x w", "y")], [value("x", [2, 3])], [value("y", None)], weight)
    with pytest.raises(ShapeError, match=r"node 'MatMul_0' \(MatMul\) of test: matmul: .* \(2, 3\) and \(4, 5\)"):
        ferrule.onnx.compile(proto)
