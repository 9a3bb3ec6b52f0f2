//===- StagePlacement.h - Where the operations of a function run ------------------------------===//

#ifndef MTC_PASSES_PIPELINE_STAGEPLACEMENT_H
#define MTC_PASSES_PIPELINE_STAGEPLACEMENT_H

#include "passes/pipeline/StageCuts.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace mtc {

/// The chunks of a pipeline, and the variables of its stages.
struct PipelineLayout {
  llvm::SmallVector<int64_t> stageOfChunk;
  VariableStages stageOfVariable; ///< by the root of a variable

  int64_t getChunks() const { return static_cast<int64_t>(stageOfChunk.size()); }
};

/// Values that one chunk computes and another one uses.
struct ChunkMessage {
  int64_t from, to;
  bool isBackward;
  llvm::SmallVector<mlir::Value> values;
};

/// The chunk that runs each operation of a function, except shared ones.
///
/// An operation of a forward part runs in the chunk of its latest operand, and one of a backward
/// part in that of its earliest, unless it depends on variables of another stage. An operation all
/// of whose users run in a later chunk runs there, too, if no more bytes are sent then: a
/// normalization runs with the layer behind it, and the sum of a bias gradient with its bias.
class StagePlacement {
public:
  /// Places a micro-step, whose forward part is divided already.
  StagePlacement(mlir::func::FuncOp microStep, const SharedOperations &shared,
                 const MicroStepParts &parts, const PipelineLayout &layout,
                 llvm::DenseMap<mlir::Operation *, int64_t> chunks);
  /// Places a function without gradients. Results are computed by the last chunk, or sent to it.
  StagePlacement(mlir::func::FuncOp function, const SharedOperations &shared,
                 const PipelineLayout &layout);

  /// Returns the chunk of an operation that is not shared.
  int64_t of(mlir::Operation *op) const { return chunks.find(op)->second; }
  /// Fails with a diagnostic if an operation depends on variables that its chunk's stage does not
  /// have.
  mlir::LogicalResult verify() const;
  /// Returns the messages between chunks, one for each pair and direction.
  std::vector<ChunkMessage> findMessages();

private:
  bool isForward(mlir::Operation *op) const { return !backward.contains(op); }
  bool isLater(int64_t a, int64_t b, bool isForward) const { return isForward ? a > b : a < b; }
  bool mayRunIn(mlir::Operation *op, int64_t chunk) const;
  bool isAvailable(mlir::Value value, int64_t chunk) const;
  void findGradients();
  bool hasGradientOf(mlir::Operation *op, int64_t chunk) const;
  void place(mlir::Operation *op, bool isForward);
  std::optional<int64_t> findTarget(mlir::Operation *op,
                                    const llvm::SetVector<mlir::Operation *> &group) const;
  std::optional<int64_t> measure(const llvm::SetVector<mlir::Operation *> &group,
                                 int64_t target) const;
  void sink(mlir::Operation *op);
  void placeAll(bool isForward);
  int64_t chunkOfUser(mlir::Operation *user) const;

  mlir::func::FuncOp function;
  const SharedOperations &shared;
  const PipelineLayout &layout;
  mutable mlir::SymbolTable symbols;
  llvm::DenseSet<mlir::Operation *> backward;
  /// The variables of operations that only compute the gradient of one.
  llvm::DenseMap<mlir::Operation *, VariableOp> gradientOf;
  llvm::DenseMap<mlir::Operation *, int64_t> chunks;
};

} // namespace mtc

#endif // MTC_PASSES_PIPELINE_STAGEPLACEMENT_H
