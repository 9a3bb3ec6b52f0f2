//===- DeclaredTypes.h - Comparison of declared and inferred types ----------------------------===//

#ifndef MTC_FRONTEND_ONNX_INFERENCE_DECLAREDTYPES_H
#define MTC_FRONTEND_ONNX_INFERENCE_DECLAREDTYPES_H

#include "frontend/onnx/operators/support/Inference.h"

#include "llvm/ADT/DenseSet.h"

#include <optional>
#include <string>

namespace mtc::onnx {

/// The kind of difference between a declared and an actual type.
enum class TypeDifference { None, Extents, ElementType };

/// Compares a declared type with the actual type of a value. Unknown parts of the declared type
/// (the shape of `tensor<*xT>`, a dynamic extent, the element type `index`) match anything.
/// Different ranks count as different extents.
TypeDifference compareDeclared(mlir::Type declared, mlir::RankedTensorType actual);

/// Returns a message such as `has type tensor<2x3xf32>, but the file declares tensor<2x4xf32>; …`.
std::string describeDifference(mlir::Type declared, mlir::RankedTensorType actual);

/// Compares the types that the file declares for results of nodes with the inferred types. Declared
/// types are never used, but a contradiction is an error. If dimensions are symbolic, exporters
/// declare the extents of the traced example; such differences are only counted, and one warning
/// reports them.
class DeclaredTypes {
public:
  explicit DeclaredTypes(GraphOp graph);

  /// Checks a node, whose results must still have their declared types, and reports a contradiction
  /// as an error. Must be called for each node in graph order.
  mlir::LogicalResult check(Inference &node);
  /// Records a value whose split axis was removed although the standard keeps it. The declared
  /// ranks of values that depend on it may differ.
  void addUnbound(mlir::Value value) {
    chosen.insert(value);
    hasUnbound = true;
  }
  /// Warns about extents that differ because of the user's dimensions, bound inputs or unbound
  /// values.
  void report() const;

private:
  /// Inputs with symbolic dimensions, bound inputs, unbound values, and all values that depend on
  /// them.
  llvm::DenseSet<mlir::Value> chosen;
  bool hasUnbound = false;
  std::optional<std::pair<mlir::Location, std::string>> firstOther;
  size_t others = 0;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_INFERENCE_DECLAREDTYPES_H
