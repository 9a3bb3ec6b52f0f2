//===- PositionTables.cpp - Tables of positions and frequencies -------------------------------===//

#include "frontend/onnx/parameters/PositionTables.h"

#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/ValuePatterns.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

/// Returns whether the values are a sequence 1, r, r^2, … with 0 < r < 1.
bool isGeometric(ArrayRef<double> values) {
  if (values.size() < 2 || values[0] != 1 || !(values[1] > 0 && values[1] < 1))
    return false;
  for (size_t i = 1; i < values.size(); ++i)
    if (std::abs(values[i] - std::pow(values[1], static_cast<double>(i))) > 1e-4 * values[i - 1])
      return false;
  return true;
}

/// Returns whether the values are rows of `columns` sines and cosines: the first row is that of
/// angle 0, and in each row the squares sum to 1 per pair.
bool isSinusoidal(ArrayRef<double> values, int64_t columns) {
  size_t width = static_cast<size_t>(columns), rows = values.size() / std::max<size_t>(width, 1);
  if (columns < 4 || columns % 2 != 0 || rows < 2)
    return false;
  ArrayRef<double> first = values.take_front(width);
  if (llvm::count(first, 0.0) != columns / 2 || llvm::count(first, 1.0) != columns / 2)
    return false;
  for (size_t row = 0; row < rows; ++row) {
    double squares = 0;
    for (double value : values.slice(row * width, width))
      squares += value * value;
    if (std::abs(squares - static_cast<double>(columns) / 2) > 1e-3 * static_cast<double>(columns))
      return false;
  }
  return true;
}

/// Returns whether the last part of the name is one that modules give to such tables.
bool isNamedAsTable(StringRef name) {
  auto [rest, last] = name.rsplit('.');
  return llvm::StringSwitch<bool>(last.empty() ? rest : last)
      .Cases({"inv_freq", "original_inv_freq", "freqs_cis", "anchors", "anchor_grid"}, true)
      .Default(false);
}

/// Returns whether all chains of moves and multiplications from a value end in sines and cosines.
bool feedsAngles(Value value, int depth = 0) {
  constexpr int maxDepth = 12;
  if (depth > maxDepth || value.use_empty())
    return false;
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    auto node = dyn_cast<NodeOp>(user);
    if (!node || node.getNumResults() != 1)
      return false;
    StringRef op = node.getOpType();
    if (op == "Sin" || op == "Cos")
      return true;
    if (op == "Shape")
      return true; // Shape does not use the elements.
    return llvm::StringSwitch<bool>(op)
               .Cases({"Identity", "Cast", "Unsqueeze", "Reshape", "Expand", "Transpose", "Concat",
                       "Mul", "MatMul", "Einsum"},
                      true)
               .Default(false) &&
           feedsAngles(node.getResult(0), depth + 1);
  });
}

} // namespace

StringMap<std::string> findPositionTables(GraphOp graph) {
  StringMap<std::string> tables;
  for (const auto &entry : initializerUses(graph))
    if (haveRole(entry.second, OperandRole::AngleTable))
      tables[entry.getKey()] = "sines or cosines of a rotary embedding";
  for (InitializerOp initializer : trainableInitializers(graph)) {
    auto type = cast<RankedTensorType>(initializer.getType());
    std::vector<double> values = sampledValues(initializer);
    if (isNamedAsTable(initializer.getName()))
      tables[initializer.getName()] = "a table of frequencies or anchors, by its name";
    else if (isGeometric(values) && feedsAngles(initializer))
      tables[initializer.getName()] = "frequencies of a rotary or sinusoidal embedding";
    else if (type.getRank() >= 2 && isSinusoidal(values, type.getShape().back()))
      tables[initializer.getName()] = "a table of sinusoidal positions";
  }
  return tables;
}

} // namespace mtc::onnx
