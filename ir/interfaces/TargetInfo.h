//===- TargetInfo.h - Queries about a module's target -----------------------------------------===//

#ifndef MTC_IR_INTERFACES_TARGETINFO_H
#define MTC_IR_INTERFACES_TARGETINFO_H

#include "ir/Mtc.h"
#include "ir/attributes/DiscardableAttributes.h"

#include <optional>

namespace mtc {

/// Returns the description of a call with the algorithm that `mtc-choose-algorithms` has chosen.
CallAttrInterface describeChosenCall(LibraryCallOpInterface call,
                                     std::optional<unsigned> accumulated);

/// Queries the target of a module, a TargetAttrInterface, about library calls and kernels before
/// allocation. If a module has no target, nothing needs scratch memory and every library supports
/// every call equally well.
class TargetInfo {
public:
  TargetInfo() = default;
  explicit TargetInfo(TargetAttrInterface target) : target(target) {}
  /// Returns the target of the module that is or contains `op`.
  static TargetInfo of(mlir::Operation *op);

  /// Returns f32 if the module has no target.
  Precision getPrecision() const { return target ? target.getPrecision() : Precision::F32; }
  /// `accumulated` may be the number of an operand in whose memory the first result is stored.
  int64_t getScratchBytes(LibraryCallOpInterface call, std::optional<unsigned> accumulated) const;
  int64_t getScratchBytes(KernelOp kernel) const;
  /// Returns null if the module has no target.
  KernelPlanAttrInterface planKernel(KernelOp kernel) const;
  /// Returns whether the host can run kernels while the device computes.
  bool hasHostKernels() const { return target && target.getHostTarget(); }
  /// Returns the bytes of scratch memory of a kernel if it runs on the host.
  int64_t getHostScratchBytes(KernelOp kernel) const;
  /// Returns 0 if the library does not support the call.
  unsigned getSupportLevel(LibraryCallOpInterface call) const;
  bool isFasterAsKernel(LibraryCallOpInterface call) const;
  /// Returns the type to which calls convert elements of this type before they multiply.
  mlir::Type getProductType(mlir::Type element) const;
  /// Returns the fastest algorithm of a call whose operands are read as stored.
  ChosenAlgorithm chooseAlgorithm(LibraryCallOpInterface call) const;
  /// Returns the memory space for offloaded values: disk if the module has no target.
  MemorySpace getOffloadSpace() const {
    return target ? target.getOffloadSpace() : MemorySpace::Disk;
  }
  /// Returns whether the target can compute a call by an algorithm.
  bool supportsAlgorithm(LibraryCallOpInterface call, CallAlgorithm algorithm) const;
  /// Return estimates in seconds; 0 if the module has no target.
  double getCallSeconds(CallAttrInterface call) const;
  double getKernelSeconds(mlir::Operation *kernel) const;
  double getHostKernelSeconds(mlir::Operation *kernel) const;
  double getCopySeconds(int64_t bytes) const;
  double getTransferSeconds(MemorySpace source, MemorySpace destination, int64_t bytes) const;
  /// Return the source of the estimates; "" if the module has no target, or no kernels on the host.
  std::string describeRates() const;
  std::string describeHostRates() const;

private:
  TargetAttrInterface target;
};

} // namespace mtc

#endif // MTC_IR_INTERFACES_TARGETINFO_H
