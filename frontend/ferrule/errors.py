"""The exceptions of Ferrule.

Each class shows in its docstring a wrong program and its repair. Messages name the op, the tensor or the dim, the value
that was met, what is allowed, and the line of the user's program.
"""


class FerruleError(Exception):
    """The base class of all errors that Ferrule raises on purpose."""


class TraceError(FerruleError):
    """Something that needs a value was done while recording, when there are shapes but no values.

    Wrong: the branch is taken once, while recording, and there is no value to decide it::

        @trace(symbolic=True)
        def f(x):
            if x.sum() > 0:
                return x
            return -x

    Right: keep the choice in the graph::

        @trace(symbolic=True)
        def f(x):
            return F.where(x.sum() > 0, x, -x)

    A comparison of dims that their constraints do not decide is the same mistake. Wrong, if ``n`` may be 1 to 64::

        if x.shape[0] > 32: ...

    Right: narrow the Dim (``fer.Dim("n", min=33, max=64)``) or make two entries.
    """


class ShapeError(FerruleError):
    """Shapes that do not fit together, or an axis or size out of range.

    Wrong::

        F.matmul(fer.zeros((2, 3)), fer.zeros((4, 5)))      # inner sizes 3 and 4

    Right::

        F.matmul(fer.zeros((2, 3)), fer.zeros((3, 5)))
    """


class DtypeError(FerruleError):
    """An op that is not defined for the element type, or two element types with no common one.

    Wrong::

        F.nn.cross_entropy(logits, fer.zeros((8,), dtype="float32"))   # labels must be integers

    Right::

        F.nn.cross_entropy(logits, fer.zeros((8,), dtype="int32"))
    """


class GradientError(FerruleError):
    """A gradient that does not exist, found before anything is compiled.

    Wrong: ``argmax`` is piecewise constant and has no gradient::

        with gm:
            gm.backward(F.argmax(net(x), axis=1).astype("float32").sum())

    Right: use a differentiable loss, or cut the path with ``F.stop_gradient``::

        with gm:
            gm.backward(F.nn.cross_entropy(net(x), label))
    """


class UnsupportedError(FerruleError):
    """A request that this version does not serve. The message lists all such things at once.

    Wrong::

        M.Conv2d(3, 8, 3, padding_mode="reflect")

    Right::

        M.Conv2d(3, 8, 3, padding=1)
    """


class BudgetError(FerruleError):
    """``memory_budget`` cannot be met. The message names the best peak that was found.

    Wrong::

        fer.compile(entries, memory_budget=1)

    Right: ask for at least the peak that the message names, or for a smaller batch.
    """


class ArtifactError(FerruleError):
    """A file that is not an artifact, is damaged, comes from another schema version, or is another model's checkpoint.

    Wrong::

        fer.load("weights.npz")

    Right::

        fer.load("net.fer")
    """


class ModelError(FerruleError):
    """A model file of another system that is missing, damaged, or no model.

    Wrong::

        ferrule.onnx.load("weights.npz")

    Right::

        ferrule.onnx.load("model.onnx")
    """


class ExecutionError(FerruleError):
    """A run that was refused or failed: wrong number, name, shape or dtype of inputs, a dim out of its range.

    Wrong, if the batch was declared as ``fer.Dim("batch", min=1, max=64)``::

        session.run("predict", np.zeros((65, 1, 8, 8), "float32"))

    Right::

        session.run("predict", np.zeros((64, 1, 8, 8), "float32"))
    """


CLASSES = {
    cls.__name__: cls
    for cls in (
        FerruleError,
        TraceError,
        ShapeError,
        DtypeError,
        GradientError,
        UnsupportedError,
        BudgetError,
        ArtifactError,
        ModelError,
        ExecutionError,
    )
}
