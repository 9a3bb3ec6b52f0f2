//===- Expander.h - Expansion of control flow and sequences -----------------------------------===//
//
// Inlines the subgraphs of If, Loop and Scan if the branch or the number of iterations is known at
// compile time, and those of FlexAttention, and rewrites operators on sequences to operators on the
// elements. If a condition is only known at run time, both branches of an If are computed. A known
// sequence is the result of a node `mtc.Sequence`, whose operands are the
// elements. An optional value is represented by its element, or by `none`.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_INFERENCE_EXPANDER_H
#define MTC_FRONTEND_ONNX_INFERENCE_EXPANDER_H

#include "frontend/onnx/operators/support/Inference.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

namespace mtc::onnx {

class KeptLoop;
class Walk;

/// The maximum number of nodes created for one graph; the limit also stops infinite loops.
constexpr size_t maxExpandedNodes = 50000;

/// Squeeze of an element of PyTorch's `unbind`, which the exporter declares with the split axis.
inline constexpr llvm::StringLiteral unboundAttribute = "onnx.unbound";

/// Returns whether a value is a sequence whose elements are known.
bool isSequence(mlir::Value value);

class Expander {
public:
  /// Loops of more than `unrollLimit` iterations are not unrolled if possible.
  Expander(Walk &walk, mlir::MLIRContext *context, int64_t unrollLimit)
      : walk(walk), builder(context), unrollLimit(unrollLimit) {}

  /// Returns whether the node is control flow or operates on sequences or optional values.
  static bool expands(NodeOp node) { return functionOf(node); }
  /// Returns whether an Expander expands nodes of an operator.
  static bool expandsOperator(llvm::StringRef domain, llvm::StringRef opType) {
    return functionOf(domain, opType);
  }

  /// Returns whether nodes of an ai.onnx operator that `expandsOperator` may become `mtc.Scan`.
  static bool keepsOperator(llvm::StringRef opType) { return opType == "Loop" || opType == "Scan"; }

  /// Expands a node for which `expands` is true and whose operands are valid, and replaces its
  /// results. Reports an error if the expansion depends on a value that is not known at compile
  /// time.
  mlir::LogicalResult expand(Inference &node);

  /// Erases the expanded nodes and the created nodes without users.
  void finish(GraphOp graph);

private:
  using Attributes = llvm::ArrayRef<mlir::NamedAttribute>;
  using Function = mlir::LogicalResult (Expander::*)(Inference &);

  /// Returns the function that expands a node, or null if the node is not expanded.
  static Function functionOf(NodeOp node);
  static Function functionOf(llvm::StringRef domain, llvm::StringRef opType);

  //===--- Loops (Loop.cpp) -------------------------------------------------------------------===//

  class LoopUnroller;
  mlir::LogicalResult expandLoop(Inference &node);

  //===--- Control flow (ControlFlow.cpp) -----------------------------------------------------===//

  mlir::LogicalResult expandIf(Inference &node);
  mlir::LogicalResult expandScan(Inference &node);
  mlir::LogicalResult expandBatchedScan(Inference &node, size_t stateCount, size_t inputCount);

  /// The axes and directions of a Scan's inputs or outputs.
  struct ScanLists {
    llvm::SmallVector<int64_t> axes;
    llvm::SmallVector<bool> areReversed;

    /// Reads the attributes of `kind`, `input` or `output`; of opset 8 if `kind` is empty.
    static mlir::FailureOr<ScanLists> read(Inference &node, llvm::StringRef kind, size_t count);
  };
  /// Runs the body for each slice of the inputs. Updates the states and appends the slices of the
  /// scan outputs to `scanned`.
  mlir::LogicalResult runScan(Inference &node, llvm::SmallVectorImpl<mlir::Value> &states,
                              mlir::ValueRange inputs, const ScanLists &lists, int64_t length,
                              llvm::MutableArrayRef<llvm::SmallVector<mlir::Value>> scanned);
  /// Keeps a loop of `iterations` iterations, whose stacked outputs have these axes and directions.
  /// Returns success(false) if the loop must be unrolled. `ignoresCondition`: see KeptLoop::build.
  mlir::FailureOr<bool> keepLoop(Inference &node, bool isLoop, int64_t iterations,
                                 mlir::ValueRange states, mlir::ValueRange inputs,
                                 const ScanLists &inputLists, const ScanLists &outputLists,
                                 bool ignoresCondition);
  mlir::LogicalResult replaceLoop(Inference &node, KeptLoop &loop, int64_t iterations,
                                  mlir::ValueRange states, const ScanLists &outputLists,
                                  mlir::ArrayRef<bool> areUsed);
  /// Returns the value with an axis at another position.
  mlir::Value moveAxis(Inference &node, mlir::Value value, int64_t from, int64_t to);
  mlir::Value reversed(Inference &node, mlir::Value value);
  mlir::Value sliceAt(Inference &node, mlir::Value value, int64_t index, int64_t axis);
  /// Checks that a subgraph has the number of inputs and outputs that the node's operands and
  /// results imply.
  static mlir::LogicalResult checkSignature(Inference &node, llvm::StringRef graph, size_t inputs,
                                            size_t outputs);
  /// Returns the value of a boolean scalar, or nullopt if it is only known at run time. Reports an
  /// error if the value is not a boolean scalar, or if it depends on initializers that may become
  /// constants when the parameters are chosen.
  mlir::FailureOr<std::optional<bool>> condition(Inference &node, mlir::Value value,
                                                 const llvm::Twine &what);

  //===--- Conditions that depend on data (RuntimeConditions.cpp) -----------------------------===//

  /// Computes both branches of an If and selects the results.
  mlir::LogicalResult selectBranch(Inference &node);
  /// Returns `then` or `otherwise`, which must have equal types, by a scalar condition.
  mlir::FailureOr<mlir::Value> select(Inference &node, mlir::Value condition, mlir::Value then,
                                      mlir::Value otherwise, const llvm::Twine &what);
  /// Returns the value with a gradient of 0 unless the condition is `isTaken`.
  mlir::Value gate(Inference &node, mlir::Value condition, mlir::Value value, bool isTaken);
  /// Maps the values that a subgraph captures to gates.
  void gateCaptured(Inference &node, mlir::Region &graph, mlir::Value condition, bool isTaken,
                    mlir::IRMapping &mapping);
  /// Returns the boolean, of one element, as a scalar.
  mlir::Value createCondition(Inference &node, mlir::Value value);

  //===--- Attention with subgraphs (FlexAttention.cpp) ---------------------------------------===//

  mlir::LogicalResult expandFlexAttention(Inference &node);
  /// Returns the result of the subgraph `name` for `scores`, or `scores` if there is no subgraph.
  mlir::FailureOr<mlir::Value> modifyScores(Inference &node, llvm::StringRef name,
                                            mlir::Value scores);

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

  //===--- Shared helpers (Expander.cpp) ------------------------------------------------------===//

  /// Clones the nodes of a subgraph before the node and visits them. `mapping` replaces values that
  /// the subgraph captures. Returns the cloned terminator, whose operands are the results. Reports
  /// an error and returns null if there are too many nodes or one of them is invalid.
  ReturnOp inlineGraph(Inference &node, mlir::Region &graph, mlir::ValueRange arguments,
                       mlir::IRMapping mapping = {});
  /// Creates an ai.onnx node before `node` and visits it.
  NodeOp create(Inference &node, llvm::StringRef op, int64_t version, mlir::ValueRange inputs,
                Attributes attributes, size_t results = 1);
  mlir::Value createConstant(Inference &node, const Tensor &value);
  mlir::Value createFlag(Inference &node, bool value);
  mlir::Value createInts(Inference &node, llvm::ArrayRef<int64_t> values);
  mlir::Value createScalar(Inference &node, int64_t value);
  /// Returns the result of `stack` for an empty list of values of the type of `element`.
  mlir::Value createEmpty(Inference &node, mlir::Value element, int64_t axis);
  /// Returns the values stacked along a new axis.
  mlir::Value stack(Inference &node, llvm::ArrayRef<mlir::Value> values, int64_t axis);
  mlir::NamedAttribute intAttribute(llvm::StringRef name, int64_t value);
  /// Replaces the node's results by these values, which are null for omitted results.
  mlir::LogicalResult replace(Inference &node, mlir::ValueRange values);

  Walk &walk;
  mlir::OpBuilder builder;
  int64_t unrollLimit;
  size_t count = 0;          ///< Number of nodes and clones created.
  size_t problemsBefore = 0; ///< Number of errors when the expansion of the node began.
  llvm::DenseSet<mlir::Operation *> created;  ///< Nodes, constants and cloned terminators.
  llvm::DenseSet<mlir::Operation *> obsolete; ///< Expanded nodes.
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_INFERENCE_EXPANDER_H
