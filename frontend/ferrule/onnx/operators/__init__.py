"""The operators, one file a family. Importing this package registers them all."""

from . import (  # noqa: F401
    activation,
    contraction,
    control_flow,
    convolution,
    creation,
    elementwise,
    indexing,
    normalization,
    pooling,
    quantization,
    recurrent,
    reduce,
    resize,
    sampling,
    selecting,
    shape,
    space,
    spectrum,
)
