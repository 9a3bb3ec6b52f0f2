"""Loss operators inside a model."""

import numpy as np
import tape
from operators import operator
from operators.normalization import log_softmax
from tape import total


def propose(graph, name: str):
    """Operands are [N, C, ...]; targets are constants or data."""
    x = graph.bounded(-20, 20, min_rank=2)
    n, classes, *rest = graph.shape(x)
    targets = graph.random_indices((n, *rest), classes, negative=False)
    operands, attributes = [x], {"reduction": graph.choose(["mean", "sum", "none"])}
    if targets.size > 1 and graph.chance(0.7):
        ignored = graph.choose([-100, -1, 0])
        attributes["ignore_index"] = ignored
        skipped = graph.numbers.random(targets.size) < 0.3
        skipped[0], skipped[-1] = False, True
        targets.flat[skipped] = ignored
        if targets.flat[0] == ignored:
            targets.flat[0] = classes - 1
        if (targets == ignored).all():
            raise tape.Rejected("no target counts")
    operands.append(graph.constant(targets))
    if graph.chance(0.4):
        operands.append(graph.constant(graph.numbers.uniform(0.3, 1.5, classes).astype(graph.float_type)))
    outputs = 2 if name == "SoftmaxCrossEntropyLoss" and graph.chance(0.2) else 1
    if name == "NegativeLogLikelihoodLoss" and graph.chance(0.6):
        operands[0] = graph.node("LogSoftmax", [x], axis=1)
    graph.node(name, operands, outputs=outputs, **attributes)


def class_loss(node, scores, targets, weights):
    """-scores[target] of [N, C, ...], weighted and reduced."""
    labels = targets.data
    counted = np.ones(labels.shape, bool)
    if "ignore_index" in node.attributes:
        counted = labels != node.attribute("ignore_index")
    classes = np.where(counted, labels, 0)
    chosen = -tape.move(scores, lambda i: np.take_along_axis(i, np.expand_dims(classes, 1), 1).squeeze(1))
    weight = np.where(counted, weights.data[classes] if weights is not None else 1.0, 0.0)
    losses = chosen * scores.tape.constant(weight)
    reduction = node.attribute("reduction", "mean")
    if reduction == "none":
        return losses
    return total(losses) * (1 / weight.sum() if reduction == "mean" else 1.0)


@operator("SoftmaxCrossEntropyLoss", propose)
def softmax_cross_entropy_loss(node, scores, targets, weights=None):
    logarithm = log_softmax(scores, 1)
    return [class_loss(node, logarithm, targets, weights), logarithm][: len(node.outputs)]


@operator("NegativeLogLikelihoodLoss", propose)
def negative_log_likelihood_loss(node, scores, targets, weights=None):
    return class_loss(node, scores, targets, weights)
