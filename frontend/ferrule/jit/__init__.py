"""Tracing: functions recorded once and run as compiled programs."""

from ..errors import TraceError
from .trace import trace

__all__ = ["TraceError", "trace"]
