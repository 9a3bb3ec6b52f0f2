//===- Program.h - Function and variables built by the conversion -----------------------------===//
//
// Maps values of the `onnx` graph to values of the core dialect. Constants and variables are
// created on first use, so that operands that only define a node's shape (axes, pads) create no
// operations.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_PROGRAM_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_PROGRAM_H

#include "frontend/onnx/dialect/Onnx.h"
#include "frontend/onnx/dialect/Tensor.h"
#include "ir/Mtc.h"
#include "ir/ScanBody.h"
#include "ir/builders/Settings.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace mtc::onnx {

class Program {
public:
  /// Creates `@forward` in the graph's module, with the graph's inputs as arguments.
  /// A negative `dropout` keeps the rates of the graph.
  Program(GraphOp graph, bool attentionInParts, BatchNormMode batchNorm, int64_t ranks,
          double dropout);

  /// Returns whether attention is always decomposed instead of converted to `mtc.attention`.
  bool writesAttentionInParts() const { return attentionInParts; }

  /// Returns the form of BatchNormalization that training steps compute.
  BatchNormMode batchNormMode() const { return batchNorm; }
  /// Returns the number of ranks whose samples BatchNormalization normalizes together.
  int64_t batchNormRanks() const { return batchNorm == BatchNormMode::Sync ? ranks : 1; }

  /// Returns the rate of a dropout with a rate in the graph.
  double dropoutRate(double inGraph);
  /// Returns whether the graph has a dropout.
  bool hasDropout() const { return dropouts > 0; }

  /// Returns whether only inference computes a node, so that it updates no state.
  bool isOnlyOfInference(NodeOp node) const { return onlyOfInference.contains(node); }

  /// Begins the body of a scan: a function, to which values are added until `endBody`. Its
  /// arguments are those of `graph`, which uses no values of other graphs.
  void beginBody(mlir::Region &graph, ScanBody signature, llvm::StringRef name);
  /// Completes the body with the results of its graph, and returns it.
  mlir::func::FuncOp endBody(mlir::Region &graph);

  /// Completes `@forward`: returns the graph's outputs.
  void finish();
  /// Erases all operations built so far.
  void discard();

  /// Returns the converted value of a graph value: the result of a converted node, an argument, a
  /// read of a variable, or a constant.
  mlir::Value value(mlir::Value onnxValue);
  /// Returns the value if it is known at compile time: a constant of the graph, or a node converted
  /// to a constant.
  std::optional<Tensor> constant(mlir::Value onnxValue) const;
  void define(mlir::Value onnxValue, mlir::Value value) { values[onnxValue] = value; }

  /// Writes `value` to the variable of `onnxValue` if that is an initializer that holds state;
  /// nodes converted later read the new value.
  void updateState(mlir::Value onnxValue, mlir::Value value);
  /// Writes `value` to the state of the named initializer. Returns the value of the state after the
  /// update. In inference, this is the value before the first update. Nodes that use the
  /// initializer read the latter. Fails if the graph has no state of this name and type.
  mlir::FailureOr<mlir::Value> updateNamedState(mlir::StringAttr name, mlir::Value value);

  /// Returns a counter that the runtime writes before each step, as i64.
  mlir::Value readScalar(RuntimeScalar scalar, mlir::Location loc);

  /// Returns a number that a flag of the program sets; see mtc::readNumber.
  Number readNumber(const SettingKind &kind, llvm::StringRef scope, double value,
                    mlir::Location loc);

  /// Returns the next stream number for an operation that draws random bits.
  int64_t nextRandomStream() { return randomStreams++; }

  /// Builds at the end of `@forward`, or of the body of a scan.
  TensorBuilder builderAt(mlir::Location loc);

private:
  mlir::Value materialize(InitializerOp initializer);
  /// Returns the role of the initializer's variable.
  static Role roleOf(InitializerOp initializer);
  mlir::Value readVariable(mlir::StringAttr symbol, mlir::RankedTensorType type,
                           mlir::Location loc);
  /// Reads a scalar that the runtime writes, with one variable and one read for each name.
  mlir::Value readScalar(const std::string &name, mlir::Type element, mlir::Attribute initial,
                         mlir::Location loc);
  mlir::StringAttr freshSymbol(llvm::StringRef name);
  void writeState(InitializerOp initializer, mlir::Value value);

  GraphOp graph;
  bool attentionInParts;
  BatchNormMode batchNorm;
  int64_t ranks;
  double dropout;
  int64_t dropouts = 0;
  mlir::func::FuncOp forward;
  mlir::func::FuncOp current; ///< `forward`, or the body of a scan
  mlir::SmallVector<mlir::func::FuncOp> bodies;
  mlir::SmallVector<VariableOp> variables;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::DenseMap<mlir::Value, mlir::StringAttr> symbolOf; ///< Variables of read initializers.
  llvm::DenseMap<mlir::Value, WriteOp> stateWrites;
  llvm::DenseSet<mlir::Operation *> onlyOfInference;
  llvm::StringMap<mlir::Value> scalars;
  llvm::StringSet<> symbols;
  int64_t randomStreams = 0;
};

/// Builds `value` as an `mtc.constant`. Axes along which all elements are equal are removed from
/// the constant and restored by a broadcast to `type`, along whose axes `value` may be repeated.
mlir::Value buildConstant(TensorBuilder &builder, mlir::ElementsAttr value,
                          mlir::RankedTensorType type);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_PROGRAM_H
