//===- ElementLoss.cpp - Losses of single elements --------------------------------------------===//

#include "passes/losses/ElementLoss.h"

#include "passes/losses/ClassAxis.h"
#include "runtime/abi/row_values.h"

using namespace mlir;
using namespace mtc;

static FailureOr<LabelLayout> layoutOfValues(const LabelQuery &query, std::string &expected) {
  if (query.output.getRank() == 0)
    return expect(expected, "an output with a batch dimension");
  if (query.given && query.given.getShape() != query.output.getShape())
    return expect(expected, "labels of the output's shape");
  return LabelLayout{SmallVector<int64_t>(query.output.getShape())};
}

/// Adds the absolute and the squared error, and the mean and deviation of the labels, with which r2
/// compares the squared error. The deviation within a sample is added to that between the samples.
static void buildErrors(TensorBuilder &b, const LossInputs &in, const LossTerms &,
                        SmallVectorImpl<RowValue> &values) {
  Value difference = b.sub(in.output, in.labels);
  values.push_back({abi::rowAbsoluteError, b.abs(difference)});
  values.push_back({abi::rowSquaredError, b.mul(difference, difference)});
  ArrayRef<int64_t> shape = shapeOf(in.labels);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(1, shape.size()));
  Value mean = in.labels, deviation = b.splat(in.labels, 0.0);
  if (!axes.empty()) {
    Value sum = b.sum(in.labels, axes);
    auto count = static_cast<double>(ShapedType::getNumElements(shape.drop_front()));
    mean = b.div(sum, b.splat(sum, count));
    Value centered = b.sub(in.labels, b.broadcast(mean, axes, shape));
    deviation = b.mul(centered, centered);
  }
  values.push_back({abi::rowLabelMean, mean});
  values.push_back({abi::rowLabelDeviation, deviation});
}

Loss mtc::elementLoss(StringLiteral name, StringLiteral help, decltype(Loss::build) build) {
  return {.name = name,
          .help = help,
          .classifies = false,
          .layout = layoutOfValues,
          .build = build,
          .buildMetrics = buildErrors};
}
