"""Keras models on PyTorch, exported by `model.export(format="onnx")`."""

import functools
from collections.abc import Callable

import keras
import torch
from keras import layers
from zoo import architecture as zoo
from zoo.architecture import Example, classes


def architecture(make: Callable[[], Example]) -> Callable[[], Example]:
    """Adds an architecture with the same weights each time: Keras initializes weights with Python's random numbers, not with PyTorch's."""

    @functools.wraps(make)
    def seeded() -> Example:
        keras.utils.set_random_seed(0)
        return make()

    return zoo.architecture(seeded)


class InTraining(torch.nn.Module):
    """A Keras model that is called in the same way as by `fit`."""

    def __init__(self, model: keras.Model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x, training=self.training)


def example(model: keras.Model, x: torch.Tensor, labels: torch.Tensor, loss: str = "cross-entropy", lr: float = 0.3,
            dynamic: bool = True) -> Example:  # fmt: skip
    module = InTraining(model)

    def export(path) -> None:
        signature = [keras.InputSpec(shape=(8, *x.shape[1:]), dtype="float32", name="x")]
        model.export(str(path), format="onnx", input_signature=signature, verbose=False)
        rename_output(path)

    return Example(module, {"x": x}, labels, loss, lr, exporter=export, dynamic=dynamic)


def rename_output(path) -> None:
    """Keras does not name outputs."""
    import onnx

    model = onnx.load(path)
    graph = model.graph
    old = graph.output[0].name
    for node in graph.node:
        for index, name in enumerate(node.output):
            if name == old:
                node.output[index] = "logits"
        for index, name in enumerate(node.input):
            if name == old:
                node.input[index] = "logits"
    graph.output[0].name = "logits"
    onnx.save(model, path)


@architecture
def keras_dense() -> Example:
    model = keras.Sequential([layers.Input((12,)), layers.Dense(24, "relu"), layers.Dense(24, "gelu"), layers.Dense(5)])
    return example(model, torch.randn(80, 12), classes())


@architecture
def keras_cnn() -> Example:
    model = keras.Sequential([
        layers.Input((12, 12, 3)), layers.Conv2D(8, 3, padding="same", use_bias=False), layers.BatchNormalization(),
        layers.ReLU(), layers.MaxPooling2D(), layers.Conv2D(16, 3), layers.BatchNormalization(), layers.ReLU(),
        layers.GlobalAveragePooling2D(), layers.Dense(5),
    ])  # fmt: skip
    return example(model, torch.randn(80, 12, 12, 3), classes(), lr=0.1)


@architecture
def keras_lstm() -> Example:
    model = keras.Sequential([layers.Input((6, 8)), layers.LSTM(12, unroll=True), layers.Dense(5)])
    return example(model, torch.randn(80, 6, 8), classes(), dynamic=False)


@architecture
def keras_gru() -> Example:
    model = keras.Sequential([layers.Input((6, 8)), layers.GRU(12, unroll=True), layers.Dense(5)])
    return example(model, torch.randn(80, 6, 8), classes(), dynamic=False)


@architecture
def keras_softmax() -> Example:
    """A classifier that ends in Softmax, like most Keras classifiers. Its loss is computed from the logits."""
    model = keras.Sequential([layers.Input((12,)), layers.Dense(24, "tanh"), layers.Dense(5, "softmax")])
    made = example(model, torch.randn(80, 12), classes())
    made.loss_of = lambda output, labels: torch.nn.functional.nll_loss(output.log(), labels)
    return made


@architecture
def keras_attention() -> Example:
    x = inputs = layers.Input((6, 16))
    x = layers.Add()([x, layers.MultiHeadAttention(2, 8)(x, x)])
    x = layers.LayerNormalization()(x)
    x = layers.Dense(5)(layers.GlobalAveragePooling1D()(x))
    return example(keras.Model(inputs, x), torch.randn(80, 6, 16), classes())
