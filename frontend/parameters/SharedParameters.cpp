//===- SharedParameters.cpp - Parameters that may be one in the module, or were taken apart ---===//

#include "frontend/parameters/SharedParameters.h"

#include "frontend/parameters/InitializerUses.h"
#include "frontend/parameters/MovingStatistics.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

/// Each matrix is compared with each of its size; a model with more is not searched further.
constexpr size_t maxComparedMatrices = 2000;

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
bool haveSameOrigin(InitializerOp a, InitializerOp b) { return a.getSource() == b.getSource(); }

/// An initializer and its data.
struct KnownMatrix {
  InitializerOp initializer;
  Matrix matrix;

  Matrix view(bool isTransposed) const {
    Matrix result = matrix;
    result.isTransposed = isTransposed;
    if (isTransposed)
      std::swap(result.rows, result.columns);
    return result;
  }
};

/// Whether `a` equals `b`, read transposed or as it is; nothing where it equals neither.
std::optional<bool> equalTransposed(const KnownMatrix &a, const KnownMatrix &b) {
  auto typeOf = [](const KnownMatrix &x) {
    return cast<RankedTensorType>(x.initializer->getResult(0).getType());
  };
  if (typeOf(a).getElementType() != typeOf(b).getElementType() ||
      typeOf(a).getNumElements() != typeOf(b).getNumElements() ||
      haveSameOrigin(a.initializer, b.initializer))
    return std::nullopt;
  for (bool isTransposed : {false, true}) {
    Matrix other = b.view(isTransposed);
    if (a.matrix.rows == other.rows && holdSameValues(a.matrix, other))
      return isTransposed;
  }
  return std::nullopt;
}

/// Whether two initializers are read by one operator as the same operand: then they are the weights
/// of two layers of a kind rather than an embedding and an output layer.
bool haveSameRole(const StringMap<std::vector<InitializerUse>> &uses, StringRef a, StringRef b) {
  auto first = uses.find(a), second = uses.find(b);
  if (first == uses.end() || second == uses.end())
    return false;
  InitializerUse x = first->second.front(), y = second->second.front();
  return x.node.getOpType() == y.node.getOpType() && x.operand == y.operand;
}

/// `'a', 'b' and 3 more`.
std::string listed(ArrayRef<std::string> names) {
  constexpr size_t shown = 3;
  std::string text;
  for (auto [i, name] : llvm::enumerate(names.take_front(shown)))
    text += (i == 0                                         ? ""
             : names.size() > shown || i + 1 < names.size() ? ", "
                                                            : " and ") +
            quoted(name);
  return names.size() > shown ? text + " and " + std::to_string(names.size() - shown) + " more"
                              : text;
}

/// What the file does not tell of equal matrices. Of layers that started equal, as those of
/// nn.TransformerEncoder, one line says all.
void warnOfEqualMatrices(GraphOp graph, const StringMap<InitializerClass> &classes,
                         InitializerBytes bytesOf, std::vector<std::string> &warnings) {
  StringMap<std::vector<InitializerUse>> uses = initializerUses(graph);
  std::vector<std::vector<std::string>> layers;
  StringMap<size_t> groupOf;
  for (const EqualMatrix &equal : findEqualMatrices(graph, classes, bytesOf)) {
    if (!haveSameRole(uses, equal.first, equal.second)) {
      warnings.push_back("initializers " + quoted(equal.first) + " and " + quoted(equal.second) +
                         " hold the same matrix" + (equal.isTransposed ? ", one transposed" : "") +
                         ": perhaps one weight that the module ties, perhaps two that were equal "
                         "when exported; the file does not say which. Each is trained apart");
      continue;
    }
    auto [group, isNew] = groupOf.try_emplace(equal.first, layers.size());
    if (isNew)
      layers.push_back({equal.first});
    layers[group->second].push_back(equal.second);
  }
  if (layers.empty())
    return;
  std::string more =
      layers.size() == 1 ? "" : ", and " + std::to_string(layers.size() - 1) + " more such groups";
  warnings.push_back("initializers " + listed(layers.front()) + " hold the same matrix" + more +
                     ": perhaps layers that started equal, as those of nn.TransformerEncoder, "
                     "perhaps weights that the module ties; the file does not say which. Each is "
                     "trained apart");
}

/// Scales and biases that the exporter computed of a normalization and its statistics.
void warnOfNormalizations(GraphOp graph, const StringMap<InitializerClass> &classes,
                          std::vector<std::string> &warnings) {
  std::vector<std::string> folded;
  for (InitializerOp initializer : trainableInitializers(graph)) {
    StringRef name = initializer.getName();
    if (!isParameter(classes, name))
      continue;
    if (name.ends_with(".weight_bias"))
      warnings.push_back("initializer " + quoted(name) +
                         " is what is left of a batch normalization that the exporter took into "
                         "the convolution: it is not trained as a normalization. Export in "
                         "training mode to keep it");
    else if (isNamedAsFoldedNormalization(name))
      folded.push_back(name.str());
  }
  if (!folded.empty())
    warnings.push_back("initializers " + listed(folded) +
                       " are what is left of batch normalizations whose statistics the exporter "
                       "folded in: they are trained as plain scales and shifts. --freeze keeps "
                       "them as they are");
}

} // namespace

std::vector<EqualMatrix> findEqualMatrices(GraphOp graph,
                                           const StringMap<InitializerClass> &classes,
                                           InitializerBytes bytesOf) {
  std::vector<KnownMatrix> different; // One of each that are equal.
  std::vector<EqualMatrix> result;
  size_t compared = 0;
  for (InitializerOp initializer : trainableInitializers(graph)) {
    auto type = cast<RankedTensorType>(initializer.getType());
    if (type.getRank() != 2 || type.getNumElements() <= 1 ||
        !isParameter(classes, initializer.getName()) || compared++ >= maxComparedMatrices)
      continue;
    Expected<ArrayRef<char>> bytes = bytesOf(initializer.getSource());
    if (!bytes) {
      consumeError(bytes.takeError());
      continue;
    }
    KnownMatrix matrix{
        initializer,
        {bytes->data(), type.getElementTypeBitWidth() / 8, type.getDimSize(0), type.getDimSize(1)}};
    bool isNew = true;
    for (const KnownMatrix &known : different)
      if (std::optional<bool> isTransposed = equalTransposed(known, matrix)) {
        InitializerOp first = known.initializer;
        result.push_back({first.getName().str(), initializer.getName().str(), *isTransposed});
        isNew = false;
        break;
      }
    if (isNew)
      different.push_back(matrix);
  }
  return result;
}

std::vector<std::string> parameterWarnings(GraphOp graph,
                                           const StringMap<InitializerClass> &classes,
                                           InitializerBytes bytesOf) {
  std::vector<std::string> warnings;
  warnOfEqualMatrices(graph, classes, bytesOf, warnings);
  warnOfNormalizations(graph, classes, warnings);
  return warnings;
}

} // namespace mtc::onnx
