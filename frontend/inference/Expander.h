//===- Expander.h - Control flow and sequences as the nodes that they stand for ---------------===//
//
// If, Loop and Scan become the nodes of their subgraphs where the branch and the number of
// iterations are known at compile time; operators on sequences become operators on the sequence's
// elements. A sequence that is known is the result of a node `mtc.Sequence`, whose operands are the
// elements. An optional value is its element, or an operand that is left out.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_INFERENCE_EXPANDER_H
#define MTC_FRONTEND_INFERENCE_EXPANDER_H

#include "frontend/operators/support/Inference.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

namespace mtc::onnx {

class Walk;

/// The nodes that the subgraphs of a graph may become; an endless loop ends here too.
constexpr size_t maxExpandedNodes = 50000;

/// Whether a value is a sequence that is known.
bool isSequence(mlir::Value value);

class Expander {
public:
  Expander(Walk &walk, mlir::MLIRContext *context) : walk(walk), builder(context) {}

  /// Whether the node is control flow or works on sequences or optional values.
  static bool expands(NodeOp node) { return functionOf(node); }

  /// Replaces the results of a node for which `expands` holds, and whose operands have no
  /// problem. Failure, reported, where something about it is not known at compile time.
  mlir::LogicalResult expand(Inference &node);

  /// Erases the nodes that were replaced, and nodes without users that replaced others.
  void finish(GraphOp graph);

private:
  using Attributes = llvm::ArrayRef<mlir::NamedAttribute>;
  using Function = mlir::LogicalResult (Expander::*)(Inference &);

  /// How a node is expanded; null for all others.
  static Function functionOf(NodeOp node);

  //===--- Control flow (ControlFlow.cpp) -----------------------------------------------------===//

  mlir::LogicalResult expandIf(Inference &node);
  mlir::LogicalResult expandLoop(Inference &node);
  mlir::LogicalResult expandScan(Inference &node);
  /// The number of inputs and outputs of a subgraph, which the operator's operands and results
  /// give.
  static mlir::LogicalResult checkSignature(Inference &node, llvm::StringRef graph, size_t inputs,
                                            size_t outputs);
  /// One boolean that is known at compile time.
  mlir::FailureOr<bool> condition(Inference &node, mlir::Value value, const llvm::Twine &what,
                                  llvm::StringRef remedy);

  //===--- Sequences (Sequences.cpp) ----------------------------------------------------------===//

  mlir::LogicalResult constructSequence(Inference &node);
  mlir::LogicalResult insertElement(Inference &node);
  mlir::LogicalResult eraseElement(Inference &node);
  mlir::LogicalResult selectElement(Inference &node);
  mlir::LogicalResult measureSequence(Inference &node);
  mlir::LogicalResult splitTensor(Inference &node);
  mlir::LogicalResult concatElements(Inference &node);
  mlir::LogicalResult mapElements(Inference &node);
  mlir::LogicalResult forwardOperand(Inference &node);
  mlir::LogicalResult testOptional(Inference &node);
  static mlir::FailureOr<llvm::SmallVector<mlir::Value>> elementsOf(Inference &node);
  static mlir::FailureOr<int64_t> position(Inference &node, size_t operand, int64_t count,
                                           int64_t limit, int64_t byDefault);
  mlir::Value createSequence(Inference &node, mlir::ValueRange elements);
  mlir::LogicalResult replaceBySequence(Inference &node, mlir::ValueRange elements);

  //===--- Both (Expander.cpp) ----------------------------------------------------------------===//

  /// Clones the nodes of a subgraph before the node and visits them. The clone of the terminator
  /// holds the results; null, reported, where there are too many nodes, or one cannot be computed.
  ReturnOp inlineGraph(Inference &node, mlir::Region &graph, mlir::ValueRange arguments);
  /// Creates and visits a node of ai.onnx before this one.
  NodeOp create(Inference &node, llvm::StringRef op, int64_t version, mlir::ValueRange inputs,
                Attributes attributes, size_t results = 1);
  mlir::Value createConstant(Inference &node, const Tensor &value);
  mlir::Value createFlag(Inference &node, bool value);
  mlir::Value createInts(Inference &node, llvm::ArrayRef<int64_t> values);
  mlir::Value createScalar(Inference &node, int64_t value);
  /// A tensor like `stack` of no values, each of which would have the type of `element`.
  mlir::Value createEmpty(Inference &node, mlir::Value element, int64_t axis);
  /// The values along a new axis.
  mlir::Value stack(Inference &node, llvm::ArrayRef<mlir::Value> values, int64_t axis);
  mlir::NamedAttribute intAttribute(llvm::StringRef name, int64_t value);
  /// Lets the users of the node's results use these values; null for results that are left out.
  mlir::LogicalResult replace(Inference &node, mlir::ValueRange values);

  Walk &walk;
  mlir::OpBuilder builder;
  size_t count = 0;                           ///< Of nodes created.
  size_t problemsBefore = 0;                  ///< When the node was reached.
  llvm::DenseSet<mlir::Operation *> created;  ///< Nodes, and clones of terminators.
  llvm::DenseSet<mlir::Operation *> obsolete; ///< Nodes that were replaced.
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_INFERENCE_EXPANDER_H
