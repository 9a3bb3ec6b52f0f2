//===- HostUpdateMover.h - Updates offloaded variables on the host ----------------------------===//

#ifndef MTC_PASSES_OFFLOAD_HOSTUPDATEMOVER_H
#define MTC_PASSES_OFFLOAD_HOSTUPDATEMOVER_H

#include "passes/kernels/KernelWindows.h"
#include "passes/offload/VariableMover.h"

#include "llvm/ADT/SetVector.h"

namespace mtc {

/// The kernels that write offloaded variables run on the host, as the updates of ZeRO-Offload do
/// (Ren et al., "ZeRO-Offload: Democratizing Billion-Scale Model Training"). Gradients are copied
/// to the host and new parameters to the device, window by window, while the device computes.
/// Groups must be those of `collectUpdateGroups`.
class HostUpdateMover final : public VariableMover {
public:
  HostUpdateMover(mlir::ModuleOp module, const MemoryAnalysis &analysis, OperationTimes &times,
                  int64_t window)
      : VariableMover(module, analysis, times, window),
        hostSlotBytes(analysis.getSlotBytes(MemorySpace::PinnedHost)) {}

  std::string plan(const VariableGroup &group) override;
  int64_t getCopiedBytes(const FunctionMemory &function, int64_t time) const override;
  void apply(EditLog &edits) override;

private:
  /// A kernel that runs on the host.
  struct Update {
    const FunctionMemory *function;
    const PlannedOperation *op;
    /// Operands that every window reads, which are copied to the host as a whole.
    mlir::SmallVector<unsigned> whole = {};
    mlir::SmallVector<mlir::Value, 1> held = {}; ///< operands whose memory a copy to the host reads
    int64_t toHost = 0, toDevice = 0;            ///< bytes of the copies in windows
    int64_t heldBytes = 0, release = 0;
  };

  std::string tryHost(const llvm::DenseSet<mlir::Value> &values, Update &update);
  void copyOperands(const Update &update, EditLog &edits);

  int64_t hostSlotBytes;
  mlir::SmallVector<VariableOp> variables;
  std::vector<Update> updates;
  llvm::DenseMap<mlir::Value, mlir::Value> onHost; ///< copies of operands, by the operand
};

} // namespace mtc

#endif // MTC_PASSES_OFFLOAD_HOSTUPDATEMOVER_H
