//===- SharedParameters.cpp - Parameters that the exporter copied or took over ----------------===//

#include "frontend/reader/Parameters.h"
#include "frontend/reader/TensorData.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace llvm;

namespace mtc::onnx {

namespace {

/// Each matrix is compared with each of its size; a model with more is not searched further.
constexpr size_t mostComparedMatrices = 2000;

/// A matrix's elements as units of bytes; `isTransposed` swaps its axes.
struct Matrix {
  const char *data;
  unsigned width;
  int64_t rows, columns;
  bool isTransposed = false;

  const char *at(int64_t row, int64_t column) const {
    int64_t index = isTransposed ? column * rows + row : row * columns + column;
    return data + index * width;
  }
  bool equalsAt(const Matrix &other, int64_t row, int64_t column) const {
    return std::memcmp(at(row, column), other.at(row, column), width) == 0;
  }
};

/// Whether two matrices of one shape are equal and not of one value, as fresh ones often are. A few
/// elements decide nearly always, so large models are not read through.
bool holdSameValues(const Matrix &a, const Matrix &b) {
  constexpr int64_t samples = 61;
  int64_t count = a.rows * a.columns;
  bool isUniform = true;
  for (int64_t i = 0; i < samples; ++i) {
    int64_t index = count / samples * i + std::min(i, count - 1) % std::max<int64_t>(count, 1);
    index = std::min(index, count - 1);
    int64_t row = index / a.columns, column = index % a.columns;
    if (!a.equalsAt(b, row, column))
      return false;
    isUniform &= std::memcmp(a.at(row, column), a.at(0, 0), a.width) == 0;
  }
  if (isUniform)
    return false;
  for (int64_t row = 0; row < a.rows; ++row)
    for (int64_t column = 0; column < a.columns; ++column)
      if (!a.equalsAt(b, row, column))
        return false;
  return true;
}

bool isParameter(const StringMap<InitializerClass> &classes, StringRef name) {
  auto found = classes.find(name);
  return found != classes.end() && found->second.role == InitializerRole::Parameter;
}

/// What was split is meant to be trained apart.
bool haveSameOrigin(const Initializer &a, const Initializer &b) {
  auto origin = [](const Initializer &x) -> StringRef {
    return x.splitFrom.empty() ? x.name : x.splitFrom;
  };
  return origin(a) == origin(b);
}

int64_t elementCount(const Initializer &initializer) {
  return initializer.bytes / elementBytes(initializer.dataType);
}

} // namespace

std::vector<TiedCopy> findTiedCopies(Model &model, const StringMap<InitializerClass> &classes) {
  std::vector<const Initializer *> matrices;
  for (const Initializer &initializer : model.initializers())
    if (matrices.size() < mostComparedMatrices && initializer.shape.size() == 2 &&
        elementCount(initializer) > 1 && isParameter(classes, initializer.name))
      matrices.push_back(&initializer);

  auto matrixOf = [&](const Initializer &initializer, bool isTransposed) -> std::optional<Matrix> {
    Expected<ArrayRef<char>> bytes = model.initializerBytes(initializer.name);
    if (!bytes) {
      consumeError(bytes.takeError());
      return std::nullopt;
    }
    int64_t rows = initializer.shape[0], columns = initializer.shape[1];
    if (isTransposed)
      std::swap(rows, columns);
    return Matrix{bytes->data(), elementBytes(initializer.dataType), rows, columns, isTransposed};
  };

  std::vector<TiedCopy> result;
  for (auto [index, first] : llvm::enumerate(matrices))
    for (const Initializer *second : ArrayRef(matrices).drop_front(index + 1)) {
      if (first->dataType != second->dataType || first->bytes != second->bytes ||
          haveSameOrigin(*first, *second))
        continue;
      for (bool isTransposed : {false, true}) {
        int64_t rows = second->shape[isTransposed ? 1 : 0];
        if (first->shape[0] != rows)
          continue;
        std::optional<Matrix> a = matrixOf(*first, false), b = matrixOf(*second, isTransposed);
        if (a && b && holdSameValues(*a, *b)) {
          result.push_back({first->name, second->name, isTransposed});
          break;
        }
      }
    }
  return result;
}

std::vector<std::string> parameterWarnings(Model &model,
                                           const StringMap<InitializerClass> &classes) {
  std::vector<std::string> warnings;
  for (const TiedCopy &copy : findTiedCopies(model, classes))
    warnings.push_back("initializers " + quoted(copy.first) + " and " + quoted(copy.second) +
                       " hold the same matrix" + (copy.isTransposed ? ", one transposed" : "") +
                       ": a weight that was tied in the module is trained as two");
  for (const Initializer &initializer : model.initializers())
    if (StringRef(initializer.name).ends_with(".weight_bias") &&
        isParameter(classes, initializer.name))
      warnings.push_back("initializer " + quoted(initializer.name) +
                         " is what is left of a batch normalization that the exporter took into "
                         "the convolution: it is not trained as a normalization. Export in "
                         "training mode to keep it");
  return warnings;
}

} // namespace mtc::onnx
