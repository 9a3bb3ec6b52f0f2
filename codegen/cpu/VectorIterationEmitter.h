//===- VectorIterationEmitter.h - Kernel bodies in SIMD lanes ---------------------------------===//

#ifndef MTC_CODEGEN_CPU_VECTORITERATIONEMITTER_H
#define MTC_CODEGEN_CPU_VECTORITERATIONEMITTER_H

#include "codegen/cpu/TableLookup.h"
#include "codegen/kernels/IterationEmitter.h"

namespace mtc::cpu {

/// Emits kernel bodies for CPU vectors, with LLVM's masked loads and stores, gathers and scatters.
class VectorIterationEmitter : public IterationEmitter {
public:
  VectorIterationEmitter(mlir::ImplicitLocOpBuilder &b, const NormalKernel &kernel,
                         mlir::ValueRange operands, mlir::Value fault,
                         TablePermutations permutations)
      : IterationEmitter(b, kernel, operands, fault, b.getI64Type()), permutations(permutations) {}

  /// Emits, at the beginning of a function, the buffers of tables that are looked up by bytes at
  /// this number of lanes.
  void prepareTables(int64_t lanes);

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
  /// Emits rounded minimums of lines in 16-bit arithmetic if the processor permutes bytes.
  mlir::Value emitSpecial(mlir::Operation *op) override;

private:
  mlir::Value addressOf(const SmallTable &table, unsigned operand);

  TablePermutations permutations;
  /// The byte planes of a table, by its operand and first element.
  llvm::SmallDenseMap<std::pair<unsigned, int64_t>, mlir::Value> planes;
};

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_VECTORITERATIONEMITTER_H
