//===- TableLookup.h - Entries of small tables by permutations of registers -------------------===//

#ifndef MTC_CODEGEN_CPU_TABLELOOKUP_H
#define MTC_CODEGEN_CPU_TABLELOOKUP_H

#include "codegen/kernels/KernelAnalysis.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::cpu {

/// Consecutive elements of f32 among which a load chooses by one unsigned number.
struct SmallTable {
  /// The first element's offset in the operand.
  int64_t first;
  /// How many there are: a power of two, from 16. The number's lower bits choose.
  int64_t size;
  /// The number, of the body: an integer of at most 32 bits.
  mlir::Value number;
};

/// The table of a load; none if it chooses among too many elements, or among elements that are not
/// known.
std::optional<SmallTable> findSmallTable(KernelLoadOp load, const LinearForm &form);

/// The entries of a table, whose first element is at `address`, for 16, 32, .. numbers, a vector of
/// i32. For processors with AVX-512.
mlir::Value lookUp(mlir::ImplicitLocOpBuilder &b, const SmallTable &table, mlir::Value address,
                   mlir::Value numbers);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_TABLELOOKUP_H
