//===- Walk.h - One forward walk that infers types, folds and expands -------------------------===//

#ifndef MTC_FRONTEND_INFERENCE_WALK_H
#define MTC_FRONTEND_INFERENCE_WALK_H

#include "frontend/dialect/OptionalOutputs.h"
#include "frontend/inference/DeclaredTypes.h"
#include "frontend/inference/Expander.h"
#include "frontend/operators/Operators.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <map>

namespace mtc::onnx {

/// Visits the nodes of a graph in its order: infers the types of their results, computes those that
/// are known at compile time, and replaces control flow and sequences by the nodes that they stand
/// for.
class Walk {
public:
  enum class Effect {
    /// Values have their inferred types, and nodes that forward an operand lose their users.
    InferAndFold,
    /// Nodes and types stay as they are; control flow and sequences alone are replaced.
    ExpandOnly
  };

  Walk(GraphOp graph, OptionalOutputs &optional, Effect effect);

  /// The value of an initializer that is constant.
  void define(mlir::Value initializer, const Tensor &value) {
    foldedValues.insert({initializer, value});
  }

  /// Failure, all problems reported, leaves types half inferred.
  mlir::LogicalResult run();

  /// Makes operations of the folded values that are still used, and gives the graph its new result
  /// types.
  void materialize();

  //===--- For the expander -------------------------------------------------------------------===//

  /// Visits a node that was created before the one that is expanded.
  void visitCreated(NodeOp node);
  std::optional<Tensor> lookup(mlir::Value value);
  /// Whether a value depends on a node with a problem, which has been reported.
  bool isUnknown(mlir::Value value) const { return unknown.contains(value); }
  /// The nodes so far that cannot be computed.
  size_t problemCount() const { return problems; }
  mlir::LogicalResult checkDeclared(Inference &node) { return declaredTypes.check(node); }

private:
  mlir::LogicalResult visit(NodeOp node);
  mlir::LogicalResult addUnknownOperator(const NodeView &node);
  void poison(NodeOp node);
  mlir::LogicalResult checkOperands(Inference &node);
  mlir::LogicalResult infer(Inference &node, const Operator &definition);
  void evaluate(Inference &node, const Operator &definition);
  void apply(Inference &node);
  void releaseOperands(NodeOp node);
  mlir::LogicalResult checkResults();
  void restoreTypes();
  void reportUnknownOperators();

  GraphOp graph;
  OptionalOutputs &optional;
  Effect effect;
  NodeOp current;               ///< That of the graph which is visited, or becomes those that are.
  llvm::DenseSet<NodeOp> wrong; ///< Nodes with attributes that have been reported.
  DeclaredTypes declaredTypes;
  Expander expander;
  llvm::DenseMap<mlir::Value, Tensor> foldedValues;
  llvm::DenseMap<mlir::Value, std::optional<Tensor>> constants; ///< Of `onnx.constant` operations.
  llvm::DenseMap<mlir::Value, mlir::Type> writtenTypes;         ///< To be restored.
  llvm::DenseSet<mlir::Value> unknown;
  /// By domain and operator, and version.
  std::map<std::pair<std::pair<std::string, std::string>, int64_t>, llvm::SmallVector<NodeOp>>
      unknownOperators;
  size_t problems = 0;
  bool failed = false; ///< A required output cannot be computed.
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_INFERENCE_WALK_H
