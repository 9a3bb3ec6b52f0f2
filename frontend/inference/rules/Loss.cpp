//===- Loss.cpp - Losses of class scores: types only ------------------------------------------===//

#include "frontend/dialect/Shapes.h"
#include "frontend/inference/Inference.h"
#include "frontend/inference/Registry.h"
#include "frontend/inference/rules/Rules.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Scores [N, C, …], labels [N, …], weights [C]. The loss is a scalar, or has the labels' shape
/// without reduction; SoftmaxCrossEntropyLoss's second result are the logarithms of the
/// probabilities.
LogicalResult inferClassLoss(Inference &node) {
  StringRef reduction = node.choice("reduction", "mean", {"none", "mean", "sum"});
  node.integer("ignore_index", 0);
  if (!node.floatElements(0) || !node.integerElements(1) || !node.hasRank(0, 2))
    return failure();
  Extents labels(node.shape(0));
  int64_t classes = labels[1];
  labels.erase(labels.begin() + 1);
  if (node.shape(1) != ArrayRef<int64_t>(labels))
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", expected " + shapeText(labels));
  if (node.has(2) && node.shape(2) != ArrayRef<int64_t>(classes))
    return node.failure(Twine(node.operandName(2)) + " has shape " + shapeText(node.shape(2)) +
                        ", expected " + shapeText(classes));
  if (failed(node.result(0, node.elementType(0), reduction == "none" ? labels : Extents())))
    return failure();
  return node.opType() == "SoftmaxCrossEntropyLoss" ? node.result(1, node.type(0)) : success();
}

} // namespace

void registerLossRules(Registry &registry) {
  registry.add("NegativeLogLikelihoodLoss", 12, inferClassLoss);
  registry.add("SoftmaxCrossEntropyLoss", 12, inferClassLoss);
}

} // namespace mtc::onnx
