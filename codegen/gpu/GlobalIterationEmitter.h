//===- GlobalIterationEmitter.h - Kernel bodies of one thread, in short vectors ---------------===//

#ifndef MTC_CODEGEN_GPU_GLOBALITERATIONEMITTER_H
#define MTC_CODEGEN_GPU_GLOBALITERATIONEMITTER_H

#include "codegen/gpu/LaunchPlan.h"
#include "codegen/kernels/IterationEmitter.h"

namespace mtc::gpu {

/// Accesses contiguous lanes in vectors of up to 16 bytes, and other lanes individually.
class GlobalIterationEmitter : public IterationEmitter {
public:
  using IterationEmitter::IterationEmitter;

  /// Binds dimensions to the digits of a linear index over them, the last dimension fastest. If the
  /// vector's dimension is one of them, it is bound to lanes.
  void bindIteration(llvm::ArrayRef<unsigned> dims, mlir::Value index,
                     const IterationVector &vector);

  /// Returns the part of the results' element offsets that does not depend on the owned dimensions.
  /// The list must be the same for all results.
  mlir::Value indexOfOthers();

protected:
  mlir::Value readLanes(const LaneOffset &offset, mlir::Value base, mlir::Type element,
                        mlir::Value active) override;
  void writeLanes(const LaneOffset &offset, mlir::Value base, mlir::Type element,
                  mlir::Value stored) override;
  /// Emits comparisons of an index with a constant whose outcome is uniform over the lanes, as in
  /// concatenations, as scalars, so that guarded loads can be vectorized.
  mlir::Value emitSpecial(mlir::Operation *op) override;

private:
  /// Returns the guaranteed alignment of an access to all lanes.
  uint32_t alignmentOf(mlir::Type element) const;
};

} // namespace mtc::gpu

#endif // MTC_CODEGEN_GPU_GLOBALITERATIONEMITTER_H
