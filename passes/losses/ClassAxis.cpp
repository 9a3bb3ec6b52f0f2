//===- ClassAxis.cpp - The class axis of outputs and labels -----------------------------------===//

#include "passes/losses/ClassAxis.h"

using namespace mlir;
using namespace mtc;

int64_t mtc::defaultClassAxis(RankedTensorType output) {
  return output.getRank() >= 4 ? 1 : output.getRank() - 1;
}

FailureOr<LabelLayout> mtc::layoutOfProbabilities(const LabelQuery &query, std::string &expected) {
  if (query.output.getRank() < 2)
    return expect(expected, "an output of at least two dimensions, [batch, classes]");
  if (query.given && query.given.getShape() != query.output.getShape())
    return expect(expected, "labels of the output's shape");
  return LabelLayout{SmallVector<int64_t>(query.output.getShape()), defaultClassAxis(query.output)};
}

SmallVector<int64_t> mtc::withoutAxis(ArrayRef<int64_t> shape, int64_t axis) {
  SmallVector<int64_t> rest(shape);
  rest.erase(rest.begin() + axis);
  return rest;
}

Value mtc::classesLast(TensorBuilder &b, Value value, int64_t classAxis) {
  auto rank = static_cast<int64_t>(shapeOf(value).size());
  if (classAxis == rank - 1)
    return value;
  SmallVector<int64_t> permutation =
      withoutAxis(llvm::to_vector(llvm::seq<int64_t>(rank)), classAxis);
  permutation.push_back(classAxis);
  return b.transpose(value, permutation);
}

Value mtc::logSoftmax(TensorBuilder &b, Value x) {
  auto last = static_cast<int64_t>(shapeOf(x).size()) - 1;
  Value maximum = b.detach(b.reduce(ReductionKind::Max, x, last));
  Value shifted = b.sub(x, b.broadcast(maximum, last, shapeOf(x)));
  Value logSum = b.log(b.sum(b.exp(shifted), last));
  return b.sub(shifted, b.broadcast(logSum, last, shapeOf(x)));
}
