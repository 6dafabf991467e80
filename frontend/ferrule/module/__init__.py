"""Modules with MegEngine's names; those that only PyTorch has, with PyTorch's."""

from . import init
from .activation import GELU, LeakyReLU, PReLU, ReLU, Sigmoid, SiLU, Softmax
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .convolution import Conv1d, Conv2d
from .linear import (
    BatchMatMulActivation,
    Bilinear,
    Concat,
    DequantStub,
    Elemwise,
    Flatten,
    Identity,
    Linear,
    LinearBn1d,
    LinearBnRelu1d,
    LinearRelu,
    QuantStub,
    Unflatten,
)
from .module import Module
from .normalization import BatchNorm1d, BatchNorm2d, LayerNorm
from .pooling import AvgPool2d, MaxPool2d

__all__ = ["init", *(name for name in dir() if isinstance(globals()[name], type) and not name.startswith("_"))]
