//===- DeclaredTypes.h - Types that a file declares, against those that follow from it --------===//

#ifndef MTC_FRONTEND_INFERENCE_DECLAREDTYPES_H
#define MTC_FRONTEND_INFERENCE_DECLAREDTYPES_H

#include "frontend/operators/support/Inference.h"

#include "llvm/ADT/DenseSet.h"

#include <optional>
#include <string>

namespace mtc::onnx {

/// How a declared type differs from the type that a value has.
enum class TypeDifference { None, Extents, ElementType };

/// What is not known of a declared type (`tensor<*xT>`, a dynamic extent, `index` for the element
/// type) differs from nothing. A different rank counts as different extents.
TypeDifference compareDeclared(mlir::Type declared, mlir::RankedTensorType actual);

/// `has type tensor<2x3xf32>, but the file declares tensor<2x4xf32>; …`
std::string describeDifference(mlir::Type declared, mlir::RankedTensorType actual);

/// Compares the types that a file declares for nodes' results with those that are inferred. They
/// are not believed, but must not contradict. Where dimensions are symbolic, exporters write the
/// extents that they traced with: such values are counted, and one warning says so.
class DeclaredTypes {
public:
  explicit DeclaredTypes(GraphOp graph);

  /// For each node in the graph's order, its results having their declared types still. Reports a
  /// contradiction.
  mlir::LogicalResult check(Inference &node);
  /// Warns of extents that depend on what the user chose.
  void report() const;

private:
  /// What the user chose something of: inputs with symbolic dimensions, inputs that are bound, and
  /// all that is computed from them.
  llvm::DenseSet<mlir::Value> chosen;
  std::optional<std::pair<mlir::Location, std::string>> firstOther;
  size_t others = 0;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_INFERENCE_DECLAREDTYPES_H
