//===- KeptLoop.h - Loops that are not unrolled -----------------------------------------------===//
//
// A Loop or Scan with many iterations becomes a node `mtc.Scan`, whose subgraph computes one
// iteration and uses no value of the enclosing graph.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_INFERENCE_KEPTLOOP_H
#define MTC_FRONTEND_ONNX_INFERENCE_KEPTLOOP_H

#include "frontend/onnx/dialect/Onnx.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

namespace mtc::onnx {

class Walk;

/// A loop whose number of iterations is known. `build` creates a graph of an iteration with the
/// arguments: states, slices of the scanned inputs, and captured values.
class KeptLoop {
public:
  /// An operand of which each iteration reads one slice along an axis.
  struct Input {
    mlir::Value value;
    int64_t axis = 0;
    bool isReversed = false; ///< the first iteration reads the last slice
  };

  /// `body` is the subgraph of a node. Scan: its arguments are the states and the slices of
  /// `inputs`. Loop: they are the number of the iteration, the condition, which is true, and the
  /// states. `areUsed` specifies which of the stacked outputs have uses.
  KeptLoop(mlir::Region &body, bool isLoop, int64_t iterations, mlir::ValueRange states,
           mlir::ArrayRef<Input> inputs, mlir::ArrayRef<bool> areUsed)
      : body(body), isLoop(isLoop), iterations(iterations), states(states), inputs(inputs),
        areUsed(areUsed), builder(body.getContext()) {}

  /// Builds the graph and infers its types. Emits no diagnostics, and returns failure if the loop
  /// must be unrolled: the iterations differ in more than data, types of states change, or the
  /// condition of a Loop depends on data (`ignoresCondition`: it has no effect).
  mlir::LogicalResult build(Walk &walk, bool ignoresCondition);

  /// Returns the types of the outputs' slices. Outputs without uses have no result in the body.
  mlir::ArrayRef<mlir::RankedTensorType> getOutputTypes() const { return outputTypes; }
  /// Returns the scanned inputs, including those that the body of a Loop reads at the number of the
  /// iteration. An input without a value is the number of the iteration.
  mlir::ArrayRef<Input> getInputs() const { return inputs; }
  mlir::ArrayRef<mlir::Value> getCaptured() const { return captured; }
  /// Moves the body of the graph into a region.
  void takeBody(mlir::Region &into);

private:
  bool isRepeatable();
  mlir::LogicalResult mapCaptured(Walk &walk);
  mlir::LogicalResult addArguments();
  void readAtIteration();
  mlir::LogicalResult checkResults(bool ignoresCondition);
  void eraseUnusedArguments();

  mlir::Region &body;
  bool isLoop;
  int64_t iterations;
  mlir::ValueRange states;
  llvm::SmallVector<Input> inputs;
  llvm::SmallVector<bool> areUsed;
  mlir::OpBuilder builder;
  mlir::IRMapping mapping;
  mlir::OwningOpRef<GraphOp> graph;
  llvm::SmallVector<mlir::Value> captured;
  llvm::SmallVector<mlir::RankedTensorType> outputTypes;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_INFERENCE_KEPTLOOP_H
