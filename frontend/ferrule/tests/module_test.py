"""Modules: the tree, its names, state, hooks and modes."""

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
import numpy as np
import pytest
from ferrule.autodiff import GradManager
from ferrule.errors import ArtifactError, DtypeError, ShapeError, TraceError, UnsupportedError
from ferrule.jit import trace


class Block(M.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = M.Linear(width, width)
        self.bn = M.BatchNorm1d(width)

    def forward(self, x):
        return F.relu(self.bn(self.linear(x)))


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Block(4), Block(4)]
        self.heads = {"a": M.Linear(4, 2), "b": M.Linear(4, 3)}
        self.scale = fer.Parameter(np.ones((), "float32"))
        self.steps = fer.Tensor(np.zeros((), "float32"))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return {name: head(x) * self.scale for name, head in self.heads.items()}


def test_names_of_parameters_buffers_and_modules():
    net = Net()
    parameters = [name for name, _ in net.named_parameters()]
    assert parameters[:4] == [
        "layers.0.linear.weight",
        "layers.0.linear.bias",
        "layers.0.bn.weight",
        "layers.0.bn.bias",
    ]
    assert parameters[-3:] == ["heads.b.weight", "heads.b.bias", "scale"] and len(parameters) == 13
    assert [name for name, _ in net.named_buffers()][-1] == "steps"
    assert [name for name, _ in net.named_children()] == ["layers.0", "layers.1", "heads.a", "heads.b"]
    assert [name for name, _ in net.named_modules("net")][:3] == ["net", "net.layers.0", "net.layers.0.linear"]
    assert len(list(net.parameters())) == 13 and len(list(net.tensors())) == 18
    assert [name for name, _ in net.named_parameters(recursive=False)] == ["scale"]


def test_a_shared_tensor_counts_once():
    net = M.Sequential(M.Linear(3, 3), M.Linear(3, 3))
    net[1].weight = net[0].weight
    assert [name for name, _ in net.named_parameters()] == ["0.weight", "0.bias", "1.bias"]


def test_modes_reach_every_module():
    net = Net()
    assert net.eval() is net and not any(module.training for module in net.modules())
    assert net.train() is net and all(module.training for module in net.modules())
    net.train(False, recursive=False)
    assert not net.training and net.layers[0].training


def test_state_round_trip():
    fer.random.seed(1)
    one = Net()
    fer.random.seed(2)
    other = Net()
    state = one.state_dict()
    assert not np.array_equal(state["layers.0.linear.weight"], other.layers[0].linear.weight.numpy())
    assert not state["scale"].flags.writeable
    assert other.load_state_dict(state) == ([], [])
    for name, value in other.state_dict().items():
        np.testing.assert_array_equal(value, state[name])


def test_wrong_states_are_refused_and_change_nothing():
    net = M.Linear(3, 2)
    before = net.weight.numpy()
    state = {"weight": np.zeros((2, 3), "float32"), "extra": np.zeros(1)}
    with pytest.raises(ArtifactError, match="missing: bias; unexpected: extra"):
        net.load_state_dict(state)
    with pytest.raises(ArtifactError, match=r"bias has shape \(2,\), the value \(3,\)"):
        net.load_state_dict({"weight": state["weight"], "bias": np.zeros(3)})
    np.testing.assert_array_equal(net.weight.numpy(), before)
    assert net.load_state_dict(state, strict=False) == (["bias"], ["extra"])
    np.testing.assert_array_equal(net.weight.numpy(), 0)


def test_states_in_the_shapes_of_other_frameworks():
    bn, conv = M.BatchNorm2d(3), M.Conv2d(4, 6, 3, groups=2)
    bn.load_state_dict({name: np.arange(3, dtype="float32") for name, _ in bn.named_tensors()})
    assert bn.weight.shape == (1, 3, 1, 1) and bn.weight.numpy().ravel().tolist() == [0, 1, 2]
    conv.load_state_dict({"weight": np.ones((2, 3, 2, 3, 3), "float32"), "bias": np.zeros(6, "float32")})
    assert conv.weight.shape == (6, 2, 3, 3) and conv.weight.numpy().sum() == 108
    net = M.Linear(2, 2)
    net.load_state_dict(lambda name, tensor: np.full(tensor.shape, len(name), "float32"))
    assert net.weight.numpy()[0, 0] == 6 and net.bias.numpy()[0] == 4


def test_hooks():
    net, seen = M.ReLU(), []
    before = net.register_forward_pre_hook(lambda module, inputs: (inputs[0] * 2.0,))
    after = net.register_forward_hook(lambda module, inputs, outputs: seen.append(outputs.numpy().tolist()))
    assert net(fer.tensor([1.0, -1.0])).numpy().tolist() == [2, 0] and seen == [[2, 0]]
    before.remove()
    before.remove()
    after.remove()
    assert net(fer.tensor([1.0, -1.0])).numpy().tolist() == [1, 0] and len(seen) == 1


def test_apply_replace_and_zero_grad():
    net = Net()
    kinds = []
    assert net.apply(lambda module: kinds.append(type(module).__name__)) is net
    assert kinds.count("Block") == 2 and kinds[0] == "Net"
    fresh = [fer.Parameter(np.full(p.shape, 7, "float32")) for p in net.parameters()]
    assert net.replace_param(fresh) == len(fresh)
    assert all(p is q for p, q in zip(net.parameters(), fresh))
    net.scale.grad = fer.tensor(1.0)
    net.zero_grad()
    assert net.scale.grad is None


def test_errors_name_the_module_path():
    class Outer(M.Module):
        def __init__(self):
            super().__init__()
            self.block = M.Sequential(M.Linear(3, 4), M.Linear(5, 2))

        def forward(self, x):
            return self.block(x)

    with pytest.raises(ShapeError, match=r"Outer\.block\.1"):
        Outer()(fer.zeros((2, 3)))


def test_wrong_arguments_are_refused():
    with pytest.raises(ShapeError, match="3 and 8.*2 groups"):
        M.Conv2d(3, 8, 3, groups=2)
    with pytest.raises(UnsupportedError, match="padding_mode 'mirror'; allowed: zeros, reflect"):
        M.Conv2d(3, 8, 3, padding_mode="mirror")
    with pytest.raises(ShapeError, match="rank 4"):
        M.BatchNorm2d(3)(fer.zeros((2, 3)))


def test_initial_values_depend_on_the_seed_alone():
    def weights():
        fer.random.seed(5)
        return M.Conv2d(2, 3, 3).weight.numpy()

    np.testing.assert_array_equal(weights(), weights())


@pytest.mark.parametrize("name", ("xavier_uniform_", "xavier_normal_", "msra_uniform_", "msra_normal_"))
def test_initialisers_have_their_variance(name):
    weight = fer.Parameter(np.zeros((200, 100, 3, 3), "float32"))
    getattr(M.init, name)(weight)
    fan_in, fan_out = M.init.calculate_fan_in_and_fan_out(weight)
    assert (fan_in, fan_out) == (900, 1800)
    wanted = 2 / (fan_in + fan_out) if name.startswith("xavier") else 2 / fan_in
    assert abs(weight.numpy().var() / wanted - 1) < 0.02


def test_batch_norm_frozen_and_without_statistics():
    x = fer.tensor(np.random.default_rng(0).normal(3, 2, (8, 4)).astype("float32"))
    frozen = M.BatchNorm1d(4, freeze=True)
    frozen(x)
    np.testing.assert_array_equal(frozen.running_mean.numpy(), 0)
    plain = M.BatchNorm1d(4, track_running_stats=False).eval()
    assert abs(plain(x).numpy().mean()) < 1e-5


def test_copies_and_pickles_are_models_of_their_own():
    import copy
    import pickle

    net = M.Sequential(M.Linear(3, 2), M.BatchNorm1d(2))
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert [name for name, _ in other.named_parameters()] == [name for name, _ in net.named_parameters()]
        np.testing.assert_array_equal(other[0].weight.numpy(), net[0].weight.numpy())
        other[0].weight.set_value(np.zeros((2, 3), "float32"))
        assert net[0].weight.numpy().any() and isinstance(other[0].weight, fer.Parameter)
        assert len(list(other.buffers())) == 2


def test_a_callable_state_and_the_names_of_shared_tensors():
    net = M.Sequential(M.Linear(3, 3), M.Linear(3, 3))
    net[1].weight = net[0].weight
    state = {**net.state_dict(), "1.weight": np.full((3, 3), 9, "float32")}
    assert net.load_state_dict(state) == ([], [])
    assert np.array_equal(net[1].weight.numpy(), state["0.weight"])
    with pytest.raises(TypeError, match="a mapping or a function"):
        net.load_state_dict([1, 2])
    seen = []
    net.load_state_dict(lambda name, tensor: seen.append(name) or np.zeros(tensor.shape))
    assert seen == ["0.weight", "0.bias", "1.bias"] and not net[0].weight.numpy().any()
    assert net.load_state_dict(lambda name, tensor: None, strict=False)[0] == seen


def test_registered_buffers_and_parameters():
    net = M.Module()
    net.register_buffer("kept", np.ones(2, "float32"))
    net.register_buffer("passing", fer.tensor([1.0]), persistent=False)
    net.register_buffer("none", None)
    net.register_parameter("weight", fer.Parameter(np.zeros(3, "float32")))
    net.register_module("inner", M.Linear(1, 1))
    assert [name for name, _ in net.named_buffers()] == ["kept", "passing"]
    assert list(net.state_dict()) == ["kept", "weight", "inner.weight", "inner.bias"]
    assert net.load_state_dict(net.state_dict()) == ([], [])
    assert net.get_submodule("inner") is net.inner and net.get_parameter("inner.bias") is net.inner.bias
    assert net.get_buffer("passing") is net.passing
    del net.kept
    assert [name for name, _ in net.named_buffers()] == ["passing"]
    with pytest.raises(AttributeError, match="no parameter 'kept'"):
        net.get_parameter("kept")
    for wrong in (lambda: net.register_buffer("x", net.weight), lambda: net.register_parameter("x", net.passing)):
        with pytest.raises(TypeError):
            wrong()


def test_tensors_that_come_into_a_list_later_are_state():
    net = M.Module()
    net.items = []
    net.items.append(fer.tensor([1.0]))
    net.items.append(M.Linear(1, 2))
    assert [name for name, _ in net.named_tensors()] == ["items.0", "items.1.weight", "items.1.bias"]


def test_frozen_parameters_stay():
    net = M.Sequential(M.Linear(2, 2), M.Linear(2, 2))
    assert net[0].requires_grad_(False) is net[0]
    optimizer = optim.SGD(net.parameters(), lr=1.0)
    manager = GradManager().attach(net.parameters())

    @trace
    def step(x):
        with manager:
            manager.backward(net(x).sum())
        optimizer.step().clear_grad()

    before = [p.numpy() for p in net.parameters()]
    step(np.ones((1, 2), "float32"))
    changed = [not np.array_equal(p.numpy(), old) for p, old in zip(net.parameters(), before)]
    assert changed == [False, False, True, True]
    net.requires_grad_()
    step(np.ones((1, 2), "float32"))
    assert not np.array_equal(net[0].bias.numpy(), before[1])


def test_hooks_are_part_of_what_is_traced():
    net = M.Sequential(M.Identity(), M.Identity())
    traced = trace(lambda x: net(x))
    x = np.array([1.0], "float32")
    assert traced(x).item() == 1
    handle = net[0].register_forward_hook(lambda module, inputs, outputs: outputs * 3.0)
    assert traced(x).item() == 3 and traced.capture_count == 2
    handle.remove()
    assert traced(x).item() == 1
    net.register_forward_pre_hook(lambda module, inputs: inputs[0] + 1.0)
    assert traced(x).item() == 2


def test_deleting_an_attribute_in_a_traced_function_is_refused():
    net = M.Linear(1, 1)

    def forget(x):
        del net.bias
        return x

    with pytest.raises(TraceError, match=r"Linear.bias is deleted inside a traced function at module_test.py"):
        trace(forget)(np.zeros(1, "float32"))
    assert net.bias is not None


def test_another_element_type():
    net = M.Sequential(M.Linear(3, 2), M.BatchNorm1d(2))
    net[1].bias.requires_grad = False
    net[0].extra = [net[0].weight, {"count": fer.tensor(np.array([1], "int32"))}]
    assert net.to("float64") is net and net.to("cpu") is net
    assert {t.dtype for t in net.parameters()} == {"float64"} and net[1].running_var.dtype == "float64"
    assert net[0].extra[0] is net[0].weight and net[0].extra[1]["count"].dtype == "int32"
    assert isinstance(net[0].weight, fer.Parameter) and not net[1].bias.requires_grad
    assert net(fer.tensor(np.ones((4, 3)))).dtype == "float64"
    assert net.float()[0].weight.dtype == "float32" and net.half()[0].weight.dtype == "float16"
    for wrong, error in (("cuda", UnsupportedError), ("int32", DtypeError)):
        with pytest.raises(error):
            net.to(wrong)


def test_representation():
    class Scale(M.Module):
        def _module_info_string(self):
            return "by=2"

    class Net(M.Module):
        def __init__(self):
            super().__init__()
            self.scale = Scale()
            self.parts = [M.ReLU()]

        def extra_repr(self):
            return "small"

    assert repr(Net()) == "Net(\n  small\n  (scale): Scale(by=2)\n  (parts.0): ReLU()\n)"


def test_quantization_marks():
    net = M.Sequential(M.Linear(1, 1))
    net.disable_quantize()
    assert net.quantize_disabled and net[0].quantize_disabled
    net[0].disable_quantize(False)
    assert net.quantize_disabled and not net[0].quantize_disabled


def test_a_gradient_ignores_a_branch_that_does_not_reach_the_loss():
    """An unused side branch changes nothing: a linear map, two slices, and a sum of the weights that nobody reads."""
    net, x = M.Linear(4, 6), fer.tensor(np.arange(8, dtype="float32").reshape(2, 4))
    manager = GradManager().attach(net.parameters())

    def gradients(unused):
        with manager:
            y = net(x)
            a, b = y[:, :3], y[:, 3:]
            unused and net.weight.sum()
            manager.backward((a * b).sum())
        grads = [p.grad.numpy() for p in net.parameters()]
        net.zero_grad()
        return grads

    for got, wanted in zip(gradients(True), gradients(False)):
        np.testing.assert_array_equal(got, wanted)


def test_wrong_channels_are_named_at_once():
    class Outer(M.Module):
        def __init__(self):
            super().__init__()
            self.stem = M.Conv2d(3, 8, 3)

        def forward(self, x):
            return self.stem(x)

    with pytest.raises(ShapeError) as caught:
        Outer()(fer.zeros((1, 4, 8, 8)))
    first = str(caught.value).splitlines()[0]
    assert "4" in first and "3" in first and "Outer.stem" in str(caught.value)
