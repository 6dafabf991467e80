"""Modules and parameters in order and by name."""

from collections import OrderedDict

import ferrule as fer
import ferrule.module as M
import numpy as np
import pytest
from ferrule.errors import ShapeError


def names(module):
    return [name for name, _ in module.named_parameters()]


def test_sequential():
    net = M.Sequential(M.Linear(3, 4), M.ReLU(), M.Linear(4, 2))
    assert len(net) == 3 and isinstance(net[1], M.ReLU) and net[-1].out_features == 2
    assert net(fer.zeros((5, 3))).shape == (5, 2)
    net[1] = M.Sigmoid()
    del net[2]
    assert len(net) == 2 and [type(m).__name__ for m in net] == ["Linear", "Sigmoid"]
    net.append(M.Linear(4, 1))
    assert names(net) == ["0.weight", "0.bias", "2.weight", "2.bias"] and net(fer.zeros((5, 3))).shape == (5, 1)
    assert net[0] in net and M.ReLU() not in net
    with pytest.raises(ShapeError, match="Sequential of 3 items has no item 3"):
        net[3]
    with pytest.raises(TypeError, match="holds Modules, not int"):
        net[0] = 1


def test_sequential_by_name_and_in_parts():
    named = M.Sequential(OrderedDict([("first", M.Linear(3, 4)), ("act", M.ReLU()), ("last", M.Linear(4, 2))]))
    assert names(named)[:2] == ["first.weight", "first.bias"]
    assert names(named[1:]) == ["last.weight", "last.bias"] and named[1:][1] is named.last
    assert names(M.Sequential({"a": M.Linear(1, 1)})) == ["a.weight", "a.bias"]
    assert len(M.Sequential(M.ReLU()) + M.Sequential(M.ReLU(), M.Tanh())) == 3
    with pytest.raises(KeyError, match="attribute of the container"):
        M.Sequential({"training": M.ReLU()})


def test_lists_of_modules():
    class Net(M.Module):
        def __init__(self):
            super().__init__()
            self.layers = M.ModuleList(M.Linear(2, 2) for _ in range(2))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    net = Net()
    net.layers.append(M.Linear(2, 3)).extend([M.ReLU()])
    assert names(net)[-2:] == ["layers.2.weight", "layers.2.bias"] and net(fer.zeros((1, 2))).shape == (1, 3)
    inner = net.layers[1]
    net.layers.insert(1, M.Identity())
    assert net.layers[2] is inner and [type(m).__name__ for m in net.layers[:2]] == ["Linear", "Identity"]
    assert net.layers.pop(1).__class__ is M.Identity and len(net.layers) == 4
    assert len(M.ModuleList()) == 0 and len(M.ModuleList(net.layers)) == 4
    net.layers += [M.Tanh()]
    assert isinstance(net.layers, M.ModuleList) and isinstance(net.layers[-1], M.Tanh)


def test_modules_by_name():
    heads = M.ModuleDict({"a": M.Linear(1, 1)})
    heads["b"] = M.Linear(1, 2)
    heads.update([("c", M.ReLU())])
    assert list(heads) == heads.keys() == ["a", "b", "c"] and "b" in heads and len(heads) == 3
    assert names(heads) == ["a.weight", "a.bias", "b.weight", "b.bias"]
    assert [key for key, _ in heads.items()] == ["a", "b", "c"] and heads.values()[2] is heads["c"]
    assert heads.get("d") is None and heads.pop("c").__class__ is M.ReLU
    del heads["a"]
    assert names(heads) == ["b.weight", "b.bias"]
    with pytest.raises(KeyError, match="ModuleDict has no 'a'; it has b"):
        heads["a"]
    with pytest.raises(KeyError, match="attribute of the container"):
        heads["keys"] = M.ReLU()


def test_parameters_in_order_and_by_name():
    weights = M.ParameterList([fer.Parameter(np.zeros(i + 1, "float32")) for i in range(2)])
    weights.append(fer.Parameter(np.zeros(5, "float32")))
    assert names(weights) == ["0", "1", "2"] and weights[-1].shape == (5,)
    table = M.ParameterDict({"w": fer.Parameter(np.zeros(2, "float32"))})
    assert names(table) == ["w"]
    with pytest.raises(TypeError, match="holds Parameters, not Tensor"):
        table["x"] = fer.tensor([1.0])
