"""Modules: the tree, its names, state, hooks and modes."""

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import numpy as np
import pytest
from ferrule.errors import ArtifactError, ShapeError, UnsupportedError


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


def test_sequential():
    net = M.Sequential(M.Linear(3, 4), M.ReLU(), M.Linear(4, 2))
    assert len(net) == 3 and isinstance(net[1], M.ReLU) and net[-1].out_features == 2 and len(net[:2]) == 2
    assert net(fer.zeros((5, 3))).shape == (5, 2)
    net[1] = M.Sigmoid()
    del net[2]
    assert len(net) == 2 and [type(m).__name__ for m in net] == ["Linear", "Sigmoid"]
    named = M.Sequential({"first": M.Linear(3, 4), "second": M.ReLU()})
    assert [name for name, _ in named.named_parameters()] == ["first.weight", "first.bias"]


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
    with pytest.raises(UnsupportedError, match="reflect"):
        M.Conv2d(3, 8, 3, padding_mode="reflect")
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
