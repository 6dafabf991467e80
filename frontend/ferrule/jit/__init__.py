"""Tracing: functions recorded once and run as compiled programs."""

from ..errors import TraceError
from .options import GraphOptimizationConfig
from .partial import DTRConfig, SublinearMemoryConfig, exclude_from_trace, partial_trace, xla_trace
from .trace import trace

__all__ = [
    "DTRConfig",
    "GraphOptimizationConfig",
    "SublinearMemoryConfig",
    "TraceError",
    "exclude_from_trace",
    "partial_trace",
    "trace",
    "xla_trace",
]
