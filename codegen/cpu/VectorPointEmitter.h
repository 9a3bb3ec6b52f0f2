//===- VectorPointEmitter.h - Kernel bodies in SIMD lanes -------------------------------------===//

#ifndef MTC_CODEGEN_CPU_VECTORPOINTEMITTER_H
#define MTC_CODEGEN_CPU_VECTORPOINTEMITTER_H

#include "codegen/kernels/PointEmitter.h"

namespace mtc::cpu {

/// Emits kernel bodies for CPU vectors, with LLVM's masked loads and stores, gathers and scatters.
class VectorPointEmitter : public PointEmitter {
public:
  VectorPointEmitter(mlir::ImplicitLocOpBuilder &b, const NormalKernel &kernel,
                     mlir::ValueRange operands, mlir::Value fault, bool permutesTables)
      : PointEmitter(b, kernel, operands, fault, b.getI64Type()), permutesTables(permutesTables) {}

  /// Emits a load at the bound lanes and at the next `rows` elements of memory for each lane.
  /// Returns one vector over the lanes for each of the `rows` elements. The contiguous dimension
  /// must be bound to its first index.
  llvm::SmallVector<mlir::Value> loadTransposed(KernelLoadOp load, int64_t rows);

  /// Zeroes `count` elements of a result, starting `offset` elements after the element at the owned
  /// dimensions' indices. If lanes are bound, zeroes one element per lane.
  void storeZeros(unsigned result, mlir::Value offset, int64_t count);

protected:
  mlir::Value readLanes(const LaneOffset &offset, mlir::Value base, mlir::Type element,
                        mlir::Value active) override;
  void writeLanes(const LaneOffset &offset, mlir::Value base, mlir::Type element,
                  mlir::Value value) override;
  /// Prefetches contiguous loads with a large stride along the dimension of the enclosing loop.
  void beforeLoad(const LinearForm &form, const LaneOffset &offset, unsigned operand,
                  mlir::Type element) override;
  /// Emits lookups in small tables as register permutations if the processor supports them.
  mlir::Value emitLookup(KernelLoadOp op, const LinearForm &form) override;

private:
  bool permutesTables;
};

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_VECTORPOINTEMITTER_H
