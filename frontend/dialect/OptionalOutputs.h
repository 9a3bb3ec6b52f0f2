//===- OptionalOutputs.h - Outputs that a graph can do without -------------------------------===//
//
// A problem at a node is an error, unless optional outputs alone follow from the node. These are
// left out then, and a remark gives the reason: a loss of the logits needs no label as a string.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_DIALECT_OPTIONALOUTPUTS_H
#define MTC_FRONTEND_DIALECT_OPTIONALOUTPUTS_H

#include "frontend/dialect/Onnx.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace mtc::onnx {

/// Of a result of a graph: it is left out where it cannot be computed; a unit.
inline constexpr llvm::StringLiteral optionalAttribute = "onnx.optional";

class OptionalOutputs {
public:
  explicit OptionalOutputs(GraphOp graph);

  /// Whether optional outputs follow from a node, and no other.
  bool contains(NodeOp node) const { return nodes.contains(node); }
  /// Runs a step on a node. Its errors are reported, except at a node of optional outputs, where
  /// they are the reason why they are left out.
  mlir::LogicalResult run(NodeOp node, llvm::function_ref<mlir::LogicalResult()> step);
  /// The same for a node of optional outputs and a reason that is known.
  void leaveOut(NodeOp node, const llvm::Twine &reason);
  /// The same for one optional output of the graph, where what it is computed by is right.
  void leaveOutResult(unsigned result, const llvm::Twine &reason);
  /// Whether an output is to be left out.
  bool isAnyLeftOut() const { return !reasons.empty() || !resultReasons.empty(); }

  /// Removes the outputs that follow from failed steps from the graph, each with a remark. What
  /// they were computed by stays.
  void removeOutputs();

private:
  struct Reason {
    mlir::Location location;
    std::string text;
  };

  GraphOp graph;
  llvm::DenseSet<mlir::Operation *> nodes;
  llvm::DenseMap<mlir::Operation *, Reason> reasons;
  llvm::DenseMap<unsigned, Reason> resultReasons;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_DIALECT_OPTIONALOUTPUTS_H
