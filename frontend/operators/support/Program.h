//===- Program.h - The function and the variables that conversion builds ----------------------===//
//
// Values of the graph and what they became. Constants and variables come into being when a
// conversion asks for them, so that operands that only shape a node (axes, pads) leave nothing
// behind.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_PROGRAM_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_PROGRAM_H

#include "frontend/dialect/Onnx.h"
#include "frontend/dialect/Tensor.h"
#include "ir/Mtc.h"
#include "ir/builders/TensorBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace mtc::onnx {

class Program {
public:
  /// Begins `@forward` with the graph's inputs as arguments, beside the graph in its module.
  Program(GraphOp graph, bool attentionInParts, BatchNormMode batchNorm);

  /// Whether no attention is to be written as `mtc.attention`.
  bool writesAttentionInParts() const { return attentionInParts; }

  /// Which form of BatchNormalization training steps compute.
  BatchNormMode batchNormMode() const { return batchNorm; }

  /// Ends `@forward`: the graph's outputs become its results.
  void finish();
  /// Removes what was built.
  void discard();

  /// What a value of the graph became: the result of a converted node, an argument, a read of a
  /// variable, a constant.
  mlir::Value value(mlir::Value onnxValue);
  /// The value if it is known at compile time: a constant of the graph, or what a node became.
  std::optional<Tensor> constant(mlir::Value onnxValue) const;
  void define(mlir::Value onnxValue, mlir::Value value) { values[onnxValue] = value; }

  /// Where `onnxValue` is an initializer that is state, the step gives its variable this value, and
  /// nodes from here on read it.
  void updateState(mlir::Value onnxValue, mlir::Value value);

  /// A count that the runtime writes before each step, an i64.
  mlir::Value readScalar(RuntimeScalar scalar, mlir::Location loc);

  /// Numbers the operations that draw random bits.
  int64_t nextRandomStream() { return randomStreams++; }

  /// Builds at the end of `@forward`.
  TensorBuilder builderAt(mlir::Location loc);

private:
  mlir::Value materialize(InitializerOp initializer);
  /// What a variable of the initializer is for.
  static Role roleOf(InitializerOp initializer);
  mlir::Value readVariable(mlir::StringAttr symbol, mlir::RankedTensorType type,
                           mlir::Location loc);
  mlir::StringAttr freshSymbol(llvm::StringRef name);

  GraphOp graph;
  bool attentionInParts;
  BatchNormMode batchNorm;
  mlir::func::FuncOp forward;
  mlir::SmallVector<VariableOp> variables;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::DenseMap<mlir::Value, mlir::StringAttr> symbolOf; ///< Of initializers that are read.
  llvm::DenseMap<mlir::Value, WriteOp> stateWrites;
  llvm::StringMap<mlir::Value> scalars;
  llvm::StringSet<> symbols;
  int64_t randomStreams = 0;
};

/// `value` as an `mtc.constant`; axes along which all elements are equal are left out and
/// broadcast.
mlir::Value buildConstant(TensorBuilder &builder, mlir::ElementsAttr value);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_PROGRAM_H
