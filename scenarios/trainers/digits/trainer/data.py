"""The digits, their fixed split, and the batch of each step."""
import gzip
import hashlib
import random
from collections import namedtuple

from trainer import storage

PIXELS = 64
CLASSES = 10
BRIGHTEST = 16.0

Examples = namedtuple("Examples", "images labels")


def load(url):
    """Reads the CSV file (gzipped or plain) and returns (training examples, held-out examples).

    The fifth of the lines with the lowest SHA-256 is held out. So the split depends neither on the
    order of the lines, nor on a seed, nor on the version of Python.
    """
    content = storage.read(url)
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    lines = sorted(content.split(), key=lambda line: hashlib.sha256(line).digest())
    if not lines:
        raise ValueError("%s holds no examples" % url)
    held_out = len(lines) // 5
    return _examples(url, lines[held_out:]), _examples(url, lines[:held_out])


def _examples(url, lines):
    images, labels = [], []
    for line in lines:
        numbers = [int(float(field)) for field in line.split(b",")]
        if len(numbers) != PIXELS + 1 or not 0 <= numbers[-1] < CLASSES:
            raise ValueError("%s: expected %d pixels and a digit 0..9, found the line %r"
                             % (url, PIXELS, line[:80]))
        images.append([pixel / BRIGHTEST for pixel in numbers[:-1]])
        labels.append(numbers[-1])
    return Examples(images, labels)


class Batches:
    """The examples of each step: a function of the seed and the step's number only.

    A restarted replica needs no other record of its position in the data.
    """

    def __init__(self, examples, batch_size, seed):
        self._examples = examples
        self._batch_size = batch_size
        self._seed = seed
        self._epoch = None
        self._order = []
        self.per_epoch = -(-len(examples.labels) // batch_size)

    def of(self, step):
        """The examples of a step; steps count from 1."""
        epoch, position = divmod(step - 1, self.per_epoch)
        if epoch != self._epoch:
            self._order = list(range(len(self._examples.labels)))
            random.Random("%d/%d" % (self._seed, epoch)).shuffle(self._order)
            self._epoch = epoch
        chosen = self._order[position * self._batch_size:(position + 1) * self._batch_size]
        return Examples([self._examples.images[i] for i in chosen],
                        [self._examples.labels[i] for i in chosen])
