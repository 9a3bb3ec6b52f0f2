//===- KernelPlans.h - Cached plans of equal kernels ------------------------------------------===//

#ifndef MTC_IR_INTERFACES_KERNELPLANS_H
#define MTC_IR_INTERFACES_KERNELPLANS_H

#include "ir/Mtc.h"

#include "mlir/IR/DialectInterface.h"
#include "llvm/ADT/StringMap.h"

#include <mutex>
#include <string>

namespace mtc {

/// Returns a key that is equal for kernels of one context that differ at most in their operands,
/// locations and discardable attributes. The key has no meaning in other contexts.
std::string structureOf(KernelOp kernel);

/// Plans of a context's kernels, by structure. The layers of a model have equal kernels, and each
/// memory analysis of each candidate plan needs the plans of all kernels. Thread-safe.
class KernelPlans : public mlir::DialectInterface::Base<KernelPlans> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelPlans)

  explicit KernelPlans(mlir::Dialect *dialect) : Base(dialect) {}

  KernelPlanAttrInterface getPlan(TargetAttrInterface target, KernelOp kernel) const;

private:
  mutable std::mutex mutex;
  mutable llvm::StringMap<KernelPlanAttrInterface> plans;
};

} // namespace mtc

#endif // MTC_IR_INTERFACES_KERNELPLANS_H
