"""A perceptron with one hidden layer over a flat list of parameters, without any library.

The flat list holds, in this order: the hidden layer's weights (a row of 64 for each hidden unit),
its biases, the output layer's weights (a row for each digit), its biases.
"""
import math
import random
from operator import mul

from trainer.data import CLASSES, PIXELS


def _rows(flat, start, count, width):
    return [flat[start + i * width:start + (i + 1) * width] for i in range(count)]


def _dot(a, b):
    return sum(map(mul, a, b))


class Model:
    """The network's shape. The parameters are arguments, because the parameter servers hold them."""

    def __init__(self, hidden):
        self.hidden = hidden
        self._hidden_bias = hidden * PIXELS
        self._output = self._hidden_bias + hidden
        self._output_bias = self._output + CLASSES * hidden
        self.size = self._output_bias + CLASSES

    def initial(self, seed):
        """Random weights of the usual scale for rectified units, and no biases."""
        draw = random.Random("weights/%d" % seed).uniform
        first, second = math.sqrt(6.0 / PIXELS), math.sqrt(6.0 / (self.hidden + CLASSES))
        return ([draw(-first, first) for _ in range(self._hidden_bias)] + [0.0] * self.hidden
                + [draw(-second, second) for _ in range(CLASSES * self.hidden)] + [0.0] * CLASSES)

    def _layers(self, flat):
        return (_rows(flat, 0, self.hidden, PIXELS), flat[self._hidden_bias:self._output],
                _rows(flat, self._output, CLASSES, self.hidden), flat[self._output_bias:])

    @staticmethod
    def _forward(layers, image):
        weights, biases, out_weights, out_biases = layers
        active = [max(0.0, _dot(row, image) + bias) for row, bias in zip(weights, biases)]
        scores = [_dot(row, active) + bias for row, bias in zip(out_weights, out_biases)]
        return active, scores

    def loss_and_gradient(self, flat, batch):
        """Mean cross entropy of the batch, and its gradient in the order of the parameters."""
        layers = self._layers(flat)
        out_columns = list(zip(*layers[2]))
        loss, scale = 0.0, 1.0 / len(batch.labels)
        hidden, out_errors, hidden_errors = [], [], []
        for image, label in zip(batch.images, batch.labels):
            active, scores = self._forward(layers, image)
            top = max(scores)
            powers = [math.exp(score - top) for score in scores]
            total = sum(powers)
            loss += (math.log(total) + top - scores[label]) * scale
            errors = [power / total * scale for power in powers]
            errors[label] -= scale
            hidden.append(active)
            out_errors.append(errors)
            hidden_errors.append([_dot(column, errors) if unit > 0.0 else 0.0
                                  for column, unit in zip(out_columns, active)])
        return loss, (self._layer_gradient(hidden_errors, batch.images)
                      + self._layer_gradient(out_errors, hidden))

    @staticmethod
    def _layer_gradient(errors, inputs):
        """A layer's weights, then its biases. Both arguments have a row for each example."""
        by_unit, by_input = list(zip(*errors)), list(zip(*inputs))
        weights = [_dot(error, column) for error in by_unit for column in by_input]
        return weights + [sum(error) for error in by_unit]

    def accuracy(self, flat, examples):
        """The share of examples whose label has the highest score."""
        layers, right = self._layers(flat), 0
        for image, label in zip(examples.images, examples.labels):
            scores = self._forward(layers, image)[1]
            right += scores.index(max(scores)) == label
        return right / len(examples.labels)


def learning_rate(base, step, steps):
    """Falls linearly to a tenth. It depends only on the step, so no restart changes it."""
    return base * (1.0 - 0.9 * (step - 1) / max(1, steps))
