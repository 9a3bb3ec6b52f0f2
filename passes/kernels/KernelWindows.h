//===- KernelWindows.h - Tiling of a kernel along its rows ------------------------------------===//

#ifndef MTC_PASSES_KERNELS_KERNELWINDOWS_H
#define MTC_PASSES_KERNELS_KERNELWINDOWS_H

#include "ir/Mtc.h"

#include <string>

namespace mtc {

/// Tiles a kernel into windows, which are ranges of its rows. The row dim is the outermost dim of
/// the iteration space whose size is not 1. A window accesses one contiguous range of each operand
/// that depends on the row, and is bit-identical to the same part of the whole kernel.
class KernelWindows {
public:
  /// Returns the windows of a kernel; fails with the reason in `why` if it cannot be tiled.
  static mlir::FailureOr<KernelWindows> of(KernelOp kernel, std::string &why);

  int64_t getRows() const { return rows; }
  /// Returns the bytes per row of an operand (inputs first, then results); 0 if each window
  /// accesses the whole operand.
  int64_t getBytesPerRow(unsigned operand) const { return bytesPerRow[operand]; }
  /// Returns the maximum number of rows per window such that the window's ranges of `operands` fit
  /// into `slotBytes`, each at a multiple of `alignment`; 0 if no window fits.
  int64_t getMaxRows(int64_t slotBytes, mlir::ArrayRef<unsigned> operands, int64_t alignment) const;
  /// Returns the rows per window of as many windows as with `maxRows` rows, but of similar size:
  /// the copies of a small remainder would take almost as long as those of a large window.
  int64_t getEvenRows(int64_t maxRows, mlir::ArrayRef<unsigned> operands, int64_t alignment) const;
  /// Splits the kernel into windows of `count` rows, as pairs of first row and number of rows.
  mlir::SmallVector<std::pair<int64_t, int64_t>> partition(int64_t count) const;

  /// Creates the kernel of `count` rows starting at `begin`, at the builder's insertion point. It
  /// has the body's arguments with the window's types, but no operands.
  KernelOp cut(mlir::OpBuilder &builder, int64_t begin, int64_t count) const;
  /// Returns the type of an operand within a window.
  mlir::RankedTensorType getType(unsigned operand, int64_t begin, int64_t count) const;

private:
  explicit KernelWindows(KernelOp kernel) : kernel(kernel) {}
  std::string find();
  /// Returns the minimum number of rows whose bytes are a multiple of `alignment` for each of
  /// `operands`, and of the arena's alignment for all others.
  int64_t getGranule(mlir::ArrayRef<unsigned> operands, int64_t alignment) const;
  std::string add(mlir::Value operand, mlir::ArrayRef<mlir::AffineMap> maps);

  KernelOp kernel;
  unsigned dim = 0;
  int64_t rows = 1;
  /// The axis along which each operand is tiled, and the indices along it per row.
  mlir::SmallVector<std::optional<unsigned>> axes;
  mlir::SmallVector<int64_t> steps, bytesPerRow;
  mlir::SmallVector<mlir::RankedTensorType> types;
};

} // namespace mtc

#endif // MTC_PASSES_KERNELS_KERNELWINDOWS_H
