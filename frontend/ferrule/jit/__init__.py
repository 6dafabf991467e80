"""Tracing: functions recorded once and run as compiled programs."""

from ..errors import TraceError
from .options import GraphOptimizationConfig
from .partial import exclude_from_trace, partial_trace
from .trace import trace

__all__ = ["GraphOptimizationConfig", "TraceError", "exclude_from_trace", "partial_trace", "trace"]
