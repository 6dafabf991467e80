"""Recording of ops that hold other ops: branches, loops, gradients that the user wrote."""

from . import _compiler, _recording
from .location import module_path, user_location


class RegionRecorder:
    """The regions of one op. Left by an error, it forgets what was recorded."""

    def __init__(self):
        self._regions = []

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for region in self._regions:
            region.drop()

    def record(self, name, types, function):
        """Records one region.

        Args:
            name: what messages call it.
            types: [(shape, dtype)] of what it gets.
            function: ``function(handles)`` returns what the region yields, as objects with ``handles``.

        Returns:
            What ``function`` returned.
        """
        region = _compiler.Region(name, types, user_location())
        _recording.enter_region()
        try:
            with region as arguments:
                results = function(arguments)
                region.finish([handle for result in results for handle in result.handles], module_path())
        finally:
            _recording.enter_region()
        self._regions.append(region)
        return results

    def finish(self, op, **operands):
        """Makes the op and returns the handles of its results."""
        return _compiler.control_flow(op, self._regions, location=user_location(), module_path=module_path(), **operands)
