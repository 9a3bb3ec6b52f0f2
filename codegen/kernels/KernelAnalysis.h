//===- KernelAnalysis.h - Normal form of kernels for code generation --------------------------===//
//
// Target-independent analysis of a kernel for the emitters. It removes dimensions of extent 1 from
// the iteration space, and merges or splits dimensions so that accesses become linear. It provides
// the linear offset of each access and, for each value of the body, the dimensions that it depends
// on and its reduction level.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_KERNELS_KERNELANALYSIS_H
#define MTC_CODEGEN_KERNELS_KERNELANALYSIS_H

#include "ir/Mtc.h"
#include "mlir/IR/AffineExpr.h"

#include <cstdint>
#include <optional>

namespace mtc {

/// A set of dimensions of a kernel's iteration space.
using DimSet = uint64_t;
inline bool contains(DimSet set, unsigned dim) { return (set >> dim) & 1; }

/// The expression: sum over d of dims[d] * d + sum over s of symbols[s] * s + rest, where `rest`
/// contains the constant and all nonlinear terms.
struct LinearForm {
  llvm::SmallVector<int64_t> dims, symbols;
  mlir::AffineExpr rest;
  DimSet restDims = 0;      ///< dimensions that `rest` depends on
  uint64_t restSymbols = 0; ///< symbols that `rest` depends on

  /// Returns the dimensions that the value depends on, not counting those of its symbols.
  DimSet dependence() const;
  /// Returns the stride of the value along a dimension, or nullopt if it is not linear in it.
  std::optional<int64_t> stride(unsigned dim) const;
};

/// A kernel in normal form. All dimensions refer to `space`, not to the operation's space.
struct NormalKernel {
  mlir::Block *body = nullptr;
  KernelYieldOp yield;
  llvm::SmallVector<mlir::RankedTensorType> inputs, outputs;

  llvm::SmallVector<int64_t> space;
  DimSet reduced = 0;
  /// The number of iterations in the last row of a ragged two-dimensional space (rows are dimension
  /// 0), or 0 if the space is rectangular.
  int64_t lastRow = 0;
  /// Whether the order of a sum must depend on its length only (`mtc.fixed_order`).
  bool hasFixedOrder = false;

  /// The element offset of each load and each sum of rows within its operand, over the dimensions
  /// and the symbols of the map.
  llvm::DenseMap<mlir::Operation *, LinearForm> loads;
  /// The value of each `mtc.kernel.index`.
  llvm::DenseMap<mlir::Operation *, LinearForm> indices;
  /// The element offset of each result, over the dimensions and the yield's symbols.
  llvm::SmallVector<LinearForm> stores;

  /// For scatter kernels: the dimensions that index an axis of every result directly. Iterations
  /// that differ in an owned dimension write disjoint elements.
  DimSet owned = 0;
  /// For scatter kernels: for each result, the axes that are not indexed by an owned dimension, as
  /// (extent, stride).
  llvm::SmallVector<llvm::SmallVector<std::pair<int64_t, int64_t>>> freeAxes;

  /// The results that are column sums, and the dimensions that any of them sums over.
  llvm::SmallVector<unsigned> columnSums;
  DimSet summedDims = 0;

  /// The dimensions that a value of the body depends on, and its reduction level: the length of the
  /// longest chain of reductions that it depends on.
  struct ValueInfo {
    DimSet dims = 0;
    unsigned level = 0;
  };
  llvm::DenseMap<mlir::Value, ValueInfo> values;
  /// The kernel's reductions in order. A reduction of level n is computed in the loops of level n.
  llvm::SmallVector<KernelReduceOp> reductions;
  /// The greatest level of a reduction, or 0 for a kernel without reductions.
  unsigned levels = 0;

  /// Returns the i-th load of the body, in the numbering of plans, or null if there is none.
  KernelLoadOp getLoad(unsigned i) const;
  /// Returns whether the lists together contain each dimension exactly once.
  bool isSpace(std::initializer_list<llvm::ArrayRef<unsigned>> lists) const;

  unsigned rank() const { return space.size(); }
  DimSet allDims() const { return (DimSet(1) << rank()) - 1; }
  bool isColumnSum(unsigned result) const { return llvm::is_contained(columnSums, result); }
  bool scatters() const { return const_cast<KernelYieldOp &>(yield).scatters(); }
  /// Returns whether the initial values of scattered results are an operand, not zero.
  bool addsOnto() const { return static_cast<bool>(KernelYieldOp(yield).getOnto()); }
  /// Returns the number of iterations in the space.
  int64_t iterations() const;
  /// Returns the dimensions that the store of result i depends on, through its value or its offset.
  DimSet storeDims(unsigned i) const;
};

/// Returns the cost of an `mtc.kernel` or `mtc.kernel_function`.
Cost costOfKernel(mlir::Operation *kernel);

/// Returns the type of a column sum's accumulator.
mlir::Type typeOfPartial(const NormalKernel &kernel, unsigned result);

/// Returns the normal form of a kernel function.
NormalKernel normalizeKernel(KernelFunctionOp function);
/// Returns the normal form of an `mtc.kernel` or `mtc.kernel_function`.
NormalKernel normalizeKernel(mlir::Operation *kernel);

} // namespace mtc

#endif // MTC_CODEGEN_KERNELS_KERNELANALYSIS_H
