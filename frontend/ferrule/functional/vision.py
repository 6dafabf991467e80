"""Functions on images, under MegEngine's name ``functional.vision``."""

from .colors import cvt_color
from .detection import deformable_psroi_pooling, nms
from .resampling import *  # noqa: F403

__all__ = [name for name in dir() if not name.startswith("_")]
