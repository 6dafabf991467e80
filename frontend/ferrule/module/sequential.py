"""`Sequential`."""

from collections import OrderedDict

from ..errors import ShapeError
from .module import Module


class Sequential(Module):
    """Modules called one after another.

    Args:
        args: modules, named "0", "1", ...; or one dict of names to modules.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(**kwargs)
        named = (
            args[0]
            if len(args) == 1 and isinstance(args[0], dict)
            else OrderedDict((str(i), m) for i, m in enumerate(args))
        )
        self.layer_keys = list(named)
        for name, module in named.items():
            setattr(self, name, module)

    def forward(self, inp):
        for name in self.layer_keys:
            inp = getattr(self, name)(inp)
        return inp

    @property
    def layer_values(self):
        """The modules in order."""
        return [getattr(self, name) for name in self.layer_keys]

    def _key(self, index):
        if not -len(self) <= index < len(self):
            raise ShapeError(f"Sequential of {len(self)} modules has no module {index}")
        return self.layer_keys[index]

    def __len__(self):
        return len(self.layer_keys)

    def __iter__(self):
        return iter(self.layer_values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Sequential(OrderedDict((name, getattr(self, name)) for name in self.layer_keys[index]))
        return getattr(self, self._key(index))

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        names = self.layer_keys[index] if isinstance(index, slice) else [self._key(index)]
        for name in names:
            delattr(self, name)
        self.layer_keys = [name for name in self.layer_keys if name not in names]
