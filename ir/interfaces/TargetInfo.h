//===- TargetInfo.h - What passes ask of the target that a module is for ----------------------===//

#ifndef MTC_IR_INTERFACES_TARGETINFO_H
#define MTC_IR_INTERFACES_TARGETINFO_H

#include "ir/Mtc.h"
#include "ir/attributes/DiscardableAttributes.h"

#include <optional>

namespace mtc {

/// The answers of a target, a TargetAttrInterface, about library calls and kernels that have no
/// slices yet. Where a module names no target, nothing needs scratch memory and every library runs
/// every call equally well.
class TargetInfo {
public:
  TargetInfo() = default;
  explicit TargetInfo(TargetAttrInterface target) : target(target) {}
  /// The target of the module that an operation is, or lies in.
  static TargetInfo of(mlir::Operation *op);

  /// f32 where the module names no target.
  Precision getPrecision() const { return target ? target.getPrecision() : Precision::F32; }
  /// `accumulated` may name an operand over which the first result lies.
  int64_t getScratchBytes(LibraryCallOpInterface call, std::optional<unsigned> accumulated) const;
  int64_t getScratchBytes(KernelOp kernel) const;
  /// Null where the module names no target.
  KernelPlanAttrInterface planKernel(KernelOp kernel) const;
  /// 0 where the library cannot run the call.
  unsigned getSupportLevel(LibraryCallOpInterface call) const;
  bool isFasterAsKernel(LibraryCallOpInterface call) const;
  /// Whether calls multiply elements of this type as f32.
  bool multipliesInF32(mlir::Type element) const;
  /// Where what is offloaded lies: a disk where the module names no target.
  MemorySpace getOffloadSpace() const {
    return target ? target.getOffloadSpace() : MemorySpace::Disk;
  }
  /// Estimates; 0 where the module names no target.
  double getCallSeconds(CallAttrInterface call) const;
  double getKernelSeconds(mlir::Operation *kernel) const;
  double getCopySeconds(int64_t bytes) const;
  double getTransferSeconds(MemorySpace source, MemorySpace destination, int64_t bytes) const;
  /// What they are of; "" where the module names no target.
  std::string describeRates() const;

private:
  TargetAttrInterface target;
};

} // namespace mtc

#endif // MTC_IR_INTERFACES_TARGETINFO_H
