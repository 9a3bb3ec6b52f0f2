//===- KernelWindows.h - A kernel that runs over its rows in tiles ---------------------------===//

#ifndef MTC_PASSES_KERNELS_KERNELWINDOWS_H
#define MTC_PASSES_KERNELS_KERNELWINDOWS_H

#include "ir/Mtc.h"

#include <string>

namespace mtc {

/// How a kernel is cut into windows: ranges of its outermost dimension whose extent is not 1, its
/// rows. A window reads and writes one contiguous range of each operand that the row chooses
/// elements of, and computes what the whole kernel computes there, bit for bit.
class KernelWindows {
public:
  /// Fails where the kernel cannot be cut so, with the reason in `why`.
  static mlir::FailureOr<KernelWindows> of(KernelOp kernel, std::string &why);

  int64_t getRows() const { return rows; }
  /// Inputs come first, then results. Of what every window reads, or writes, as a whole it is 0.
  int64_t getBytesPerRow(unsigned operand) const { return bytesPerRow[operand]; }
  /// The most rows of a window of which `operands` fit into so many bytes, each of them at a
  /// multiple of `alignment`, as windows begin in it; 0 where none fits.
  int64_t getMostRows(int64_t slotBytes, mlir::ArrayRef<unsigned> operands,
                      int64_t alignment) const;
  /// Windows of so many rows that cover the kernel, as first row and number of rows.
  mlir::SmallVector<std::pair<int64_t, int64_t>> partition(int64_t count) const;

  /// The kernel of `count` rows from `begin` on, at the builder's insertion point. It has the
  /// body's arguments, in types of the window, and no operands.
  KernelOp cut(mlir::OpBuilder &builder, int64_t begin, int64_t count) const;
  /// The type of a window's operand.
  mlir::RankedTensorType getType(unsigned operand, int64_t begin, int64_t count) const;

private:
  explicit KernelWindows(KernelOp kernel) : kernel(kernel) {}
  std::string find();
  /// The fewest rows whose bytes of each of `operands` are a multiple of `alignment`, and of the
  /// others what values in the arena are aligned to.
  int64_t getGranule(mlir::ArrayRef<unsigned> operands, int64_t alignment) const;
  std::string add(mlir::Value operand, mlir::ArrayRef<mlir::AffineMap> maps);

  KernelOp kernel;
  unsigned dim = 0;
  int64_t rows = 1;
  /// The axis of each operand along which rows run, and by how much of its extent a row.
  mlir::SmallVector<std::optional<unsigned>> axes;
  mlir::SmallVector<int64_t> steps, bytesPerRow;
  mlir::SmallVector<mlir::RankedTensorType> types;
};

} // namespace mtc

#endif // MTC_PASSES_KERNELS_KERNELWINDOWS_H
