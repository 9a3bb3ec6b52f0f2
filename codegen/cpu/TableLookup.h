//===- TableLookup.h - Lookups in small tables by register permutations -----------------------===//

#ifndef MTC_CODEGEN_CPU_TABLELOOKUP_H
#define MTC_CODEGEN_CPU_TABLELOOKUP_H

#include "codegen/kernels/KernelAnalysis.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::cpu {

/// Instructions that look up small tables, in ascending order of the processors that have them.
enum class TablePermutations {
  None,
  Words, ///< permutations of 32-bit words (AVX-512)
  Bytes, ///< permutations of words and of bytes (AVX-512 VBMI)
};

/// A range of f32 elements of an operand that a load indexes by a single unsigned integer.
struct SmallTable {
  /// The offset of the first element in the operand.
  int64_t first;
  /// The number of elements: a power of two, at least 16. The index is taken modulo the size.
  int64_t size;
  /// The index, a value of the body: an integer of at most 32 bits.
  mlir::Value number;
};

/// Returns the table of a load. Returns nullopt if the table is too large or its bounds are
/// unknown.
std::optional<SmallTable> findSmallTable(KernelLoadOp load, const LinearForm &form);

/// Emits lookups in a table, whose first element is at `address`, for a vector of 16, 32, ...
/// indices of type i32. Requires AVX-512.
mlir::Value lookUp(mlir::ImplicitLocOpBuilder &b, const SmallTable &table, mlir::Value address,
                   mlir::Value numbers);

/// Returns whether `lookUpBytes` can emit the lookup of a table at this number of indices.
bool isTableOfBytes(const SmallTable &table, int64_t lanes);

/// Stores the elements of a table, whose first element is at `address`, in a buffer on the stack,
/// byte by byte: the first bytes of all elements, then their second bytes, and so on. Returns its
/// address.
mlir::Value storeBytePlanes(mlir::ImplicitLocOpBuilder &b, const SmallTable &table,
                            mlir::Value address);

/// Emits the lookup of a table of bytes, whose buffer is at `planes`, at a vector of indices of
/// type i8. Requires AVX-512 VBMI.
mlir::Value lookUpBytes(mlir::ImplicitLocOpBuilder &b, mlir::Value planes, mlir::Value numbers);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_TABLELOOKUP_H
