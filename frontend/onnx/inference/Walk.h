//===- Walk.h - Forward walk for type inference, folding and expansion ------------------------===//

#ifndef MTC_FRONTEND_ONNX_INFERENCE_WALK_H
#define MTC_FRONTEND_ONNX_INFERENCE_WALK_H

#include "frontend/onnx/dialect/OptionalOutputs.h"
#include "frontend/onnx/inference/DeclaredTypes.h"
#include "frontend/onnx/inference/Expander.h"
#include "frontend/onnx/inference/FoldCache.h"
#include "frontend/onnx/operators/Operators.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <map>

namespace mtc::onnx {

/// Visits the nodes of a graph in order. Infers the types of results, computes results that are
/// known at compile time, and expands control flow and sequences.
class Walk {
public:
  enum class Effect {
    /// Values get their inferred types, and the users of forwarding nodes use the forwarded
    /// operands.
    InferAndFold,
    /// Only control flow and sequences are expanded; other nodes and all types are unchanged.
    ExpandOnly
  };

  /// Loops of more than `unrollLimit` iterations are not unrolled if possible.
  Walk(GraphOp graph, OptionalOutputs &optional, Effect effect, int64_t unrollLimit);

  /// Defines the value of an initializer that is constant.
  void define(mlir::Value initializer, const Tensor &value) {
    foldedValues.insert({initializer, value});
  }

  /// Visits all nodes and reports all errors. After a failure, types are inferred only in part.
  mlir::LogicalResult run();

  /// Creates constants for folded values that still have uses, and updates the graph's result
  /// types.
  void materialize();

  //===--- Interface for the expander ---------------------------------------------------------===//

  /// Visits a node that the expander created before the node that it expands.
  void visitCreated(NodeOp node);
  std::optional<Tensor> lookup(mlir::Value value);
  /// Returns whether a value depends on an invalid node, whose error has been reported.
  bool isUnknown(mlir::Value value) const { return unknown.contains(value); }
  /// Returns whether a value that is not known depends on weights alone, which may become constants
  /// when parameters are chosen.
  bool mayBecomeKnown(mlir::Value value) const {
    return effect == Effect::ExpandOnly && dataSources(value).empty();
  }
  /// Returns whether the nodes of loops may be replaced. Otherwise, they stay in place, since
  /// the uses of initializers in their subgraphs are of interest.
  bool replacesLoops() const { return effect == Effect::InferAndFold; }
  /// Gives the results of a node that is not expanded their types.
  void keep(Inference &node) { apply(node); }
  /// Returns the number of invalid nodes found so far.
  size_t problemCount() const { return problems; }
  mlir::LogicalResult checkDeclared(Inference &node) { return declaredTypes.check(node); }
  void addUnbound(mlir::Value value) { declaredTypes.addUnbound(value); }

private:
  mlir::LogicalResult visit(NodeOp node);
  mlir::LogicalResult visitSelectByMode(NodeOp node);
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
  NodeOp current;               ///< The node of the graph that is visited or expanded.
  llvm::DenseSet<NodeOp> wrong; ///< Nodes whose attribute errors have been reported.
  DeclaredTypes declaredTypes;
  Expander expander;
  llvm::DenseMap<mlir::Value, Tensor> foldedValues;
  FoldCache folds;
  llvm::DenseMap<mlir::Value, std::optional<Tensor>>
      constants;                                        ///< Values of `onnx.constant` operations.
  llvm::DenseMap<mlir::Value, mlir::Type> writtenTypes; ///< Declared types, to be restored.
  llvm::DenseSet<mlir::Value> unknown;
  /// Keyed by (domain, operator) and version.
  std::map<std::pair<std::pair<std::string, std::string>, int64_t>, llvm::SmallVector<NodeOp>>
      unknownOperators;
  size_t problems = 0;
  bool failed = false; ///< Whether a required output cannot be computed.
};

/// Erases operations without uses in a single reverse walk.
void eraseDead(mlir::Block &block);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_INFERENCE_WALK_H
