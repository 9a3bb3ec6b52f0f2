//===- OptionalOutputs.h - Removal of graph outputs that cannot be computed -------------------===//
//
// An error at a node is fatal unless only optional outputs depend on the node. Such outputs are
// removed, and a remark reports the reason: a loss on the logits does not need the predicted label
// as a string.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_DIALECT_OPTIONALOUTPUTS_H
#define MTC_FRONTEND_ONNX_DIALECT_OPTIONALOUTPUTS_H

#include "frontend/onnx/dialect/Onnx.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace mtc::onnx {

/// Unit attribute of a graph result that may be removed if it cannot be computed, and of a graph
/// argument that only removed results read.
inline constexpr llvm::StringLiteral optionalAttribute = "onnx.optional";

/// Tracks errors at the nodes of optional outputs and removes the outputs that depend on them.
class OptionalOutputs {
public:
  explicit OptionalOutputs(GraphOp graph);

  /// Returns whether optional outputs depend on the node, and no required ones.
  bool contains(NodeOp node) const { return nodes.contains(node); }
  /// Runs a step on a node. Errors are reported, except at a node of optional outputs, where they
  /// are recorded as the reason to remove these outputs.
  mlir::LogicalResult run(NodeOp node, llvm::function_ref<mlir::LogicalResult()> step);
  /// Records an already known reason to remove the optional outputs that depend on `node`.
  void leaveOut(NodeOp node, const llvm::Twine &reason);
  /// Records a reason to remove one optional output whose producers are valid.
  void leaveOutResult(unsigned result, const llvm::Twine &reason);
  /// Returns whether any output is to be removed.
  bool isAnyLeftOut() const { return !reasons.empty() || !resultReasons.empty(); }

  /// Removes the recorded outputs, and the outputs that depend on recorded nodes, from the graph,
  /// each with a remark. Their producers are not erased; inputs that only they read are marked.
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

#endif // MTC_FRONTEND_ONNX_DIALECT_OPTIONALOUTPUTS_H
