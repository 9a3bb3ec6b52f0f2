//===- GlobalPointEmitter.h - Points of one thread, in short vectors --------------------------===//

#ifndef MTC_CODEGEN_CUDA_GLOBALPOINTEMITTER_H
#define MTC_CODEGEN_CUDA_GLOBALPOINTEMITTER_H

#include "codegen/cuda/LaunchPlan.h"
#include "codegen/kernels/PointEmitter.h"

namespace mtc::cuda {

/// Reads and writes contiguous lanes in accesses of up to 16 bytes, others one by one.
class GlobalPointEmitter : public PointEmitter {
public:
  using PointEmitter::PointEmitter;

  /// Binds dims to the digits of an index over them, the last fastest; the vector's dim, if it is
  /// one of them, to lanes.
  void bindPoint(llvm::ArrayRef<unsigned> dims, mlir::Value index, const PointVector &vector);

  /// Where the results' elements lie but for what the owned dims add, the same for all results.
  mlir::Value indexOfOthers();

protected:
  mlir::Value readLanes(const LaneOffset &offset, mlir::Value base, mlir::Type element,
                        mlir::Value active) override;
  void writeLanes(const LaneOffset &offset, mlir::Value base, mlir::Type element,
                  mlir::Value stored) override;
  /// Comparisons of an index with a constant that have one outcome for all lanes, as those of
  /// joined parts have, are scalars: what they guard is read in vectors.
  mlir::Value emitSpecial(mlir::Operation *op) override;
};

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_GLOBALPOINTEMITTER_H
