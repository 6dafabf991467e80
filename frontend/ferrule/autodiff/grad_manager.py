"""`GradManager`: records a forward computation and leaves gradients in ``tensor.grad``."""

import weakref

from .._stream import record_gradient
from .._tensor import Tensor
from ..errors import GradientError, ShapeError
from ..location import user_location
from ..shapes import is_one, show
from .scope import GradientScope


class GradManager:
    """Computes the gradients of attached tensors.

    ::

        gm = GradManager().attach(net.parameters())
        with gm:
            loss = F.nn.cross_entropy(net(x), label)
            gm.backward(loss)          # adds to parameter.grad
        opt.step().clear_grad()
    """

    def __init__(self):
        self._attached = {}  # id: (weak reference, callbacks); tensors compare elementwise, so they are no dict keys
        self._sources = []  # (tensor, the handle that the forward computation uses)
        self._recording = False
        self._scope = None  # while it records
        self._within = False  # whether a `with` block ends the recording

    def attached_tensors(self):
        """The tensors whose gradients are computed."""
        return [tensor for tensor, _ in self._alive()]

    def _alive(self):
        """(tensor, callbacks) of the attached tensors that still exist."""
        found = [(reference(), callbacks) for reference, callbacks in self._attached.values()]
        return [(tensor, callbacks) for tensor, callbacks in found if tensor is not None]

    def attach(self, tensors, callbacks=None):
        """Adds tensors; returns self.

        Args:
            tensors: a Tensor or several.
            callbacks: a function or several, called as ``callback(tensor, grad)`` before the gradient is added to
                ``tensor.grad``; what they return takes its place.
        """
        tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        callbacks = [] if callbacks is None else [callbacks] if callable(callbacks) else list(callbacks)
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise GradientError(f"attach takes Tensors, not {type(tensor).__name__}, at {user_location()}")
            known = self._attached.get(id(tensor))
            if known is None or known[0]() is not tensor:
                self._attached[id(tensor)] = known = (weakref.ref(tensor), [])
                if self._recording:
                    self._sources.append((tensor, tensor._handle))
            known[1].extend(callbacks)
        return self

    def record(self):
        """Starts recording; done by ``with gm:`` as well."""
        if self._recording:
            raise GradientError(f"this GradManager already records, at {user_location()}")
        self._recording = True
        self._scope = GradientScope()
        # The value at the start is what the forward computation uses, also if the tensor is written in between.
        self._attached = {key: known for key, known in self._attached.items() if known[0]() is not None}
        self._sources = [(tensor, tensor._handle) for tensor, _ in self._alive()]

    def release(self):
        """Stops recording and forgets what was kept for the gradients."""
        if not self._recording:
            return
        self._recording = False
        self._sources = []
        self._scope.close()

    def __enter__(self):
        self.record()
        self._within = True
        return self

    def __exit__(self, *exception):
        self._within = False
        self.release()
        return False

    def backward(self, y=None, dy=None):
        """Adds the gradient of ``y`` to ``tensor.grad`` of every attached tensor that it depends on.

        Inside ``with gm:`` it can be called several times; the gradients add up.

        Args:
            y: a Tensor or several; without dy each has one element.
            dy: the gradient with respect to each y.
        """
        if not self._recording:
            raise GradientError(
                f"backward at {user_location()} without a recording: put the computation and backward into `with gm:`"
            )
        try:
            pairs = self._pairs(y, dy)
            for tensor, total in self._totals(pairs):
                for callback in self._attached[id(tensor)][1]:
                    changed = callback(tensor, total)
                    total = total if changed is None else changed
                before = tensor.grad
                tensor.grad = total if before is None else before + total
        finally:
            if not self._within:
                self.release()

    def _pairs(self, y, dy):
        """[(y, dy or None)], checked."""
        ys = [] if y is None else [y] if isinstance(y, Tensor) else list(y)
        dys = [None] * len(ys) if dy is None else [dy] if isinstance(dy, Tensor) else list(dy)
        if len(ys) != len(dys):
            raise GradientError(f"backward of {len(ys)} tensors with {len(dys)} gradients at {user_location()}")
        for each, cotangent in zip(ys, dys):
            if cotangent is None and not is_one(each.size):
                raise ShapeError(
                    f"backward of a tensor of shape {show(each.shape)} at {user_location()}: a tensor with several "
                    f"elements needs its own gradient, backward(y, dy)"
                )
        return list(zip(ys, dys))

    def _totals(self, pairs):
        """[(tensor, the sum of its gradients over all y, first y first)], without tensors that no y depends on."""
        names = [tensor.name or f"attached tensor {i}" for i, (tensor, _) in enumerate(self._sources)]
        sources = [handle for _, handle in self._sources]
        sums = [None] * len(sources)
        for y, dy in pairs if sources else ():
            handles = record_gradient(y._handle, [] if dy is None else [dy._handle], sources, names)
            for i, handle in enumerate(handles):
                if handle is not None:
                    gradient = Tensor._wrap(handle)
                    sums[i] = gradient if sums[i] is None else sums[i] + gradient
        return [(tensor, total) for (tensor, _), total in zip(self._sources, sums) if total is not None]
