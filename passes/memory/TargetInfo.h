//===- TargetInfo.h - What passes ask a target ------------------------------------------------===//

#ifndef MTC_PASSES_MEMORY_TARGETINFO_H
#define MTC_PASSES_MEMORY_TARGETINFO_H

#include "ir/Mtc.h"

#include <functional>
#include <memory>
#include <optional>

namespace mtc {

/// Answers about library calls in their placed form, whose places themselves do not matter, and
/// about kernels. Empty functions for no target: nothing then needs scratch, and all layouts are
/// equally fast.
struct TargetInfo {
  /// Bytes of scratch that the library needs; negative where it cannot run the call.
  std::function<int64_t(mlir::Operation *)> scratch;
  /// A rank of how well it runs the call, from 0 (not at all) up. A copy in front of the call is
  /// better than a lower rank: it takes less time than a slow call, and its memory is planned,
  /// which what a library allocates for itself is not.
  std::function<int(mlir::Operation *)> rate;
  /// Whether a generated kernel computes the call faster: its work is less than the library's
  /// overhead, or of a kind that the library is slow at.
  std::function<bool(mlir::Operation *)> isFasterAsKernel;
  /// Bytes of scratch that a launch of the kernel needs, to pass values between its stages.
  std::function<int64_t(KernelOp)> kernelScratch;
};

/// A call's placed form, for a question: it lies in no block, and its places are made up. For each
/// result, `shared` may name an operand at whose place it lies.
struct OperationEraser {
  void operator()(mlir::Operation *op) const { op->erase(); }
};
using DetachedCall = std::unique_ptr<mlir::Operation, OperationEraser>;
DetachedCall buildDetached(LibraryCallOpInterface call,
                           llvm::ArrayRef<std::optional<unsigned>> shared = {});

} // namespace mtc

#endif // MTC_PASSES_MEMORY_TARGETINFO_H
