"""What an actor knows of the emulator's state: acknowledged values, and those of an operation without an answer."""

import contextlib
import hashlib
import os

from world import Lost


class Ledger:
    """Acknowledged values by their keys. None: the key is missing.

    `open` has the values that the operation in progress may leave: those before it, and those after each
    of its steps. Each is a dictionary with all keys that the operation changes.
    """

    def __init__(self):
        self.kept, self.open = {}, []

    @contextlib.contextmanager
    def changing(self, *steps):
        """The operation inside makes these changes, one step after the other. If it raises, it stays open."""
        values = {key: self.kept.get(key) for step in steps for key in step}
        self.open = [values]
        for step in steps:
            values = {**values, **step}
            self.open.append(values)
        yield
        self.keep(values)

    def keep(self, values):
        """The open operation has left these values."""
        for key, value in values.items():
            if value is None:
                self.kept.pop(key, None)
            else:
                self.kept[key] = value
        self.open = []

    def settle(self, read):
        """Reads what the open operation has left."""
        if self.open:
            seen = {key: read(key) for key in self.open[0]}
            if seen not in self.open:
                raise Lost(f'an operation left {shortened(seen)}, which is none of {shortened(self.open)}')
            self.keep(seen)

    def compare(self, key, seen):
        wanted = self.kept.get(key)
        if seen == wanted:
            return
        place = ''
        if isinstance(seen, bytes) and isinstance(wanted, bytes):
            same = len(os.path.commonprefix([seen, wanted]))
            place = f', from byte {same} on: {seen[same:same + 60]!r}, {wanted[same:same + 60]!r}'
        raise Lost(f'{key} is {shortened(seen)} instead of {shortened(wanted)}{place}')


def shortened(value):
    """A short text for a message."""
    if isinstance(value, bytes):
        return f'<{len(value)} bytes, {hashlib.sha256(value).hexdigest()[:8]}>' if len(value) > 80 else repr(value)
    if isinstance(value, dict):
        return '{' + ', '.join(f'{key}: {shortened(item)}' for key, item in value.items()) + '}'
    if isinstance(value, (list, tuple)):
        return '[' + ', '.join(shortened(item) for item in value) + ']'
    return repr(value)
