//===- VectorPointEmitter.h - Points in lanes of wide vectors ---------------------------------===//

#ifndef MTC_CODEGEN_CPU_VECTORPOINTEMITTER_H
#define MTC_CODEGEN_CPU_VECTORPOINTEMITTER_H

#include "codegen/kernels/PointEmitter.h"

namespace mtc::cpu {

/// Reads and writes lanes with masks, gathers and scatters of LLVM.
class VectorPointEmitter : public PointEmitter {
public:
  VectorPointEmitter(mlir::ImplicitLocOpBuilder &b, const NormalKernel &kernel,
                     mlir::ValueRange operands, mlir::Value fault, bool permutesTables)
      : PointEmitter(b, kernel, operands, fault, b.getI64Type()), permutesTables(permutesTables) {}

  /// A load at the bound lanes and, for each of them, the next `rows` elements of memory: for each
  /// of those one vector over the lanes. The dim along which memory runs is bound to its first
  /// index.
  llvm::SmallVector<mlir::Value> loadTransposed(KernelLoadOp load, int64_t rows);

  /// Zeroes `count` elements of a result from its place at the owned dims' indices, moved by
  /// `offset` elements; where lanes are bound, one element for each lane.
  void storeZeros(unsigned result, mlir::Value offset, int64_t count);

protected:
  mlir::Value readLanes(const LaneOffset &offset, mlir::Value base, mlir::Type element,
                        mlir::Value active) override;
  void writeLanes(const LaneOffset &offset, mlir::Value base, mlir::Type element,
                  mlir::Value value) override;
  /// Contiguous loads that jump far from one index of the loop's dim to the next are fetched ahead
  /// of time.
  void beforeLoad(const LinearForm &form, const LaneOffset &offset, unsigned operand,
                  mlir::Type element) override;
  /// Small tables are in registers, if the processor permutes these by others.
  mlir::Value emitLookup(KernelLoadOp op, const LinearForm &form) override;

private:
  bool permutesTables;
};

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_VECTORPOINTEMITTER_H
