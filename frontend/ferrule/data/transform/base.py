"""The base classes of transforms, and lists of them."""

import numpy as np

from ...errors import UnsupportedError
from ..randomness import generator

_KEYS = ("image", "coords", "boxes", "mask", "keypoints", "polygons", "category", "boxes_category", "info")


class Transform:
    """Changes samples: a subclass defines `apply`."""

    def apply(self, input):  # noqa: A002  (MegEngine's name)
        """The changed sample."""
        raise NotImplementedError(f"{type(self).__name__} does not define apply")

    def apply_batch(self, inputs):
        """Each of several samples changed."""
        return tuple(self.apply(input) for input in inputs)

    def __call__(self, input):  # noqa: A002
        return self.apply(input)


class PseudoTransform(Transform):
    """Changes nothing."""

    def apply(self, input):  # noqa: A002
        return input


class VisionTransform(Transform):
    """Changes images together with what belongs to them.

    A subclass defines `_apply_image` and, as it needs, `_apply_coords`, `_apply_boxes`, `_apply_mask`,
    `_apply_category` and so on. What has no such method is passed on.

    Args:
        order: what the items of a sample are: ``"image"``, ``"coords"`` (n, 2) of x and y, ``"boxes"`` (n, 4) of
            corners,
            ``"mask"``, ``"category"``, ``"info"`` and others that are passed on. A sample of one image is the image.
    """

    def __init__(self, order=None):
        order = ("image",) if order is None else order
        if not isinstance(order, (tuple, list)):
            raise UnsupportedError(f"{type(self).__name__}: order {order!r}; a list of {', '.join(_KEYS)} is needed")
        unknown = [key for key in order if key not in _KEYS]
        if unknown:
            raise UnsupportedError(
                f"{type(self).__name__}: order has {', '.join(unknown)}; allowed: {', '.join(_KEYS)}"
            )
        self.order = tuple(order)

    def apply(self, input):  # noqa: A002
        alone = not isinstance(input, (tuple, list))
        items = (input,) if alone else tuple(input)
        if len(items) < len(self.order):
            raise UnsupportedError(
                f"{type(self).__name__}: a sample of {len(items)} items; the order {self.order} needs as many"
            )
        self._begin(dict(zip(self.order, items)))
        changed = [getattr(self, f"_apply_{key}", _same)(item) for key, item in zip(self.order, items)]
        changed += items[len(self.order) :]
        return changed[0] if alone else tuple(changed)

    def _begin(self, sample):
        """Draws what all items of a sample share; ``sample`` holds the items by name."""

    def _apply_image(self, image):
        raise NotImplementedError(f"{type(self).__name__} does not define _apply_image")

    def _apply_boxes(self, boxes):
        """Boxes from their corners: the smallest boxes around the changed corners."""
        boxes = np.asarray(boxes)
        corners = boxes.reshape(-1, 2, 2)
        xs, ys = corners[:, :, 0], corners[:, :, 1]
        points = np.stack([xs[:, [0, 1, 0, 1]], ys[:, [0, 0, 1, 1]]], -1).reshape(-1, 2)
        moved = np.asarray(self._apply_coords(points)).reshape(-1, 4, 2)
        return np.concatenate([moved.min(1), moved.max(1)], 1).reshape(boxes.shape)

    def _apply_coords(self, coords):
        raise NotImplementedError(f"{type(self).__name__} does not define _apply_coords")

    def _apply_mask(self, mask):
        raise NotImplementedError(f"{type(self).__name__} does not define _apply_mask")


def _same(item):
    return item


class Compose(VisionTransform):
    """Transforms one after another.

    Args:
        transforms: the list.
        batch_compose: let each transform take the whole batch.
        shuffle_indices: groups of positions, from 1 on, whose transforms change places at random.
        order: given to each transform, if it is not None.
    """

    def __init__(self, transforms=(), batch_compose=False, shuffle_indices=None, *, order=None):
        super().__init__(order)
        self.transforms = list(transforms)
        self.batch_compose = batch_compose
        self.shuffle_indices = shuffle_indices
        if order is not None:
            for transform in self.transforms:
                if isinstance(transform, VisionTransform):
                    transform.order = tuple(order)

    def _ordered(self):
        transforms = list(self.transforms)
        for group in self.shuffle_indices or ():
            places = [index - 1 for index in group]
            for place, source in zip(places, generator().permutation(places)):
                transforms[place] = self.transforms[source]
        return transforms

    def apply(self, input):  # noqa: A002
        for transform in self._ordered():
            input = transform.apply(input)  # noqa: A001
        return input

    def apply_batch(self, inputs):
        if not self.batch_compose:
            return super().apply_batch(inputs)
        for transform in self._ordered():
            inputs = transform.apply_batch(inputs)
        return inputs


class TorchTransformCompose(VisionTransform):
    """Functions of images (as those of torchvision are) one after another; they are given the array.

    Args:
        transforms: the functions.
    """

    def __init__(self, transforms, *, order=None):
        super().__init__(order)
        self.transforms = list(transforms)

    def _apply_image(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image
