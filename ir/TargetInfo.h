//===- TargetInfo.h - What passes ask of the target that a module is for ----------------------===//

#ifndef MTC_IR_TARGETINFO_H
#define MTC_IR_TARGETINFO_H

#include "ir/DiscardableAttributes.h"
#include "ir/Mtc.h"

#include <memory>
#include <optional>

namespace mtc {

/// The answers of a target, a TargetAttrInterface, about library calls and kernels that have no
/// places yet. Where a module names no target, nothing needs scratch memory and every library runs
/// every call equally well.
class TargetInfo {
public:
  TargetInfo() = default;
  explicit TargetInfo(TargetAttrInterface target) : target(target) {}
  /// The target of the module that an operation is, or lies in.
  static TargetInfo of(mlir::Operation *op);

  /// For each result, `shared` may name an operand at whose place it lies.
  int64_t getScratchBytes(LibraryCallOpInterface call,
                          llvm::ArrayRef<std::optional<unsigned>> shared) const;
  int64_t getScratchBytes(KernelOp kernel) const;
  /// 0 where the library cannot run the call.
  unsigned getSupportLevel(LibraryCallOpInterface call) const;
  bool isFasterAsKernel(LibraryCallOpInterface call) const;

private:
  TargetAttrInterface target;
};

} // namespace mtc

#endif // MTC_IR_TARGETINFO_H
