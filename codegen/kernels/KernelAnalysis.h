//===- KernelAnalysis.h - A kernel as emitters see it -----------------------------------------===//
//
// Independent of the target: a kernel's space without unit dims, its dims merged or split so that
// accesses become linear, each access as one linear offset, and for each value of the body the dims
// that it depends on and the reductions that come before it.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_KERNELS_KERNELANALYSIS_H
#define MTC_CODEGEN_KERNELS_KERNELANALYSIS_H

#include "ir/Mtc.h"
#include "mlir/IR/AffineExpr.h"

#include <cstdint>
#include <optional>

namespace mtc {

/// A set of the dims of a kernel's space.
using DimSet = uint64_t;
inline bool contains(DimSet set, unsigned dim) { return (set >> dim) & 1; }

/// sum over d of dims[d] * d + sum over s of symbols[s] * s + rest, where `rest` holds the constant
/// and what is not linear.
struct LinearForm {
  llvm::SmallVector<int64_t> dims, symbols;
  mlir::AffineExpr rest;
  DimSet restDims = 0;      ///< The dims that `rest` depends on.
  uint64_t restSymbols = 0; ///< The symbols that `rest` depends on.

  /// The dims that the value depends on, symbols aside.
  DimSet dependence() const;
  /// The step of the value along a dim, where it is linear in it.
  std::optional<int64_t> stride(unsigned dim) const;
};

/// A kernel in normal form. Dims are those of `space`, not of the operation.
struct NormalKernel {
  mlir::Block *body = nullptr;
  KernelYieldOp yield;
  llvm::SmallVector<mlir::RankedTensorType> inputs, outputs;

  llvm::SmallVector<int64_t> space;
  DimSet reduced = 0;
  /// Where not all points of the space exist: it has two dims, the rows first, and its last row has
  /// so many points. 0 otherwise.
  int64_t lastRow = 0;

  /// Element offset of each load within its operand, over the dims and the load's symbols.
  llvm::DenseMap<mlir::Operation *, LinearForm> loads;
  /// The value of each `mtc.kernel.index`.
  llvm::DenseMap<mlir::Operation *, LinearForm> indices;
  /// Element offset of each result, over the dims and the yield's symbols.
  llvm::SmallVector<LinearForm> stores;

  /// For kernels that scatter: the dims that are an axis of every result by themselves. What items
  /// with different indices along these write never meets.
  DimSet owned = 0;
  /// For kernels that scatter, for each result: the axes that no owned dim runs along, as (extent,
  /// stride).
  llvm::SmallVector<llvm::SmallVector<std::pair<int64_t, int64_t>>> freeAxes;

  /// The results that are sums of columns, and the dims that any of them sums over.
  llvm::SmallVector<unsigned> columnSums;
  DimSet summedDims = 0;

  /// What a value of the body depends on: dims, and how many reductions lie one after another
  /// before it.
  struct ValueInfo {
    DimSet dims = 0;
    unsigned level = 0;
  };
  llvm::DenseMap<mlir::Value, ValueInfo> values;
  /// The kernel's reductions in order; a reduction of level n is in the loops of level n.
  llvm::SmallVector<KernelReduceOp> reductions;
  /// 0 without reductions, otherwise one more than the greatest level of their operands.
  unsigned levels = 0;

  /// Load number i of the body, as plans count them; null if there are not as many.
  KernelLoadOp getLoad(unsigned i) const;
  /// Whether each dim is in the lists once.
  bool isSpace(std::initializer_list<llvm::ArrayRef<unsigned>> lists) const;

  unsigned rank() const { return space.size(); }
  DimSet allDims() const { return (DimSet(1) << rank()) - 1; }
  bool isColumnSum(unsigned result) const { return llvm::is_contained(columnSums, result); }
  bool scatters() const { return const_cast<KernelYieldOp &>(yield).scatters(); }
  /// Whether what it scatters to starts as an operand, not as zero.
  bool addsOnto() const { return static_cast<bool>(KernelYieldOp(yield).getOnto()); }
  /// How many points exist.
  int64_t points() const;
  /// The dims that storing result i takes part in: those of its value and of its place.
  DimSet storeDims(unsigned i) const;
};

/// The cost of an `mtc.kernel` or `mtc.kernel_function`.
Cost costOfKernel(mlir::Operation *kernel);

/// The type in which a column is summed.
mlir::Type typeOfPartial(const NormalKernel &kernel, unsigned result);

NormalKernel normalizeKernel(KernelFunctionOp function);
/// Of an `mtc.kernel` or `mtc.kernel_function`.
NormalKernel normalizeKernel(mlir::Operation *kernel);

} // namespace mtc

#endif // MTC_CODEGEN_KERNELS_KERNELANALYSIS_H
