//===- TargetInfo.cpp - Queries about a module's target ---------------------------------------===//

#include "ir/interfaces/TargetInfo.h"

#include "ir/interfaces/KernelPlans.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mtc;

#include "ir/MtcAttributeInterfaces.cpp.inc"

CallAttrInterface mtc::describeChosenCall(LibraryCallOpInterface call,
                                          std::optional<unsigned> accumulated) {
  CallAttrInterface described = call.describeCall(accumulated);
  if (auto algorithm = call->getAttrOfType<CallAlgorithmAttr>(algorithmAttribute))
    if (CallAttrInterface chosen = described.withAlgorithm(algorithm.getValue()))
      return chosen;
  return described;
}

TargetInfo TargetInfo::of(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  return TargetInfo(module ? module->getAttrOfType<TargetAttrInterface>(targetAttribute)
                           : TargetAttrInterface());
}

int64_t TargetInfo::getScratchBytes(LibraryCallOpInterface call,
                                    std::optional<unsigned> accumulated) const {
  return target ? target.getScratchBytes(describeChosenCall(call, accumulated)) : 0;
}

int64_t TargetInfo::getScratchBytes(KernelOp kernel) const {
  KernelPlanAttrInterface plan = planKernel(kernel);
  return plan ? plan.getScratchBytes() : 0;
}

static KernelPlanAttrInterface getPlan(TargetAttrInterface target, KernelOp kernel) {
  return kernel->getDialect()->getRegisteredInterface<KernelPlans>()->getPlan(target, kernel);
}

KernelPlanAttrInterface TargetInfo::planKernel(KernelOp kernel) const {
  const TargetAttrInterface own = target && kernel.getOnHost() ? target.getHostTarget() : target;
  return own ? getPlan(own, kernel) : KernelPlanAttrInterface();
}

int64_t TargetInfo::getHostScratchBytes(KernelOp kernel) const {
  return getPlan(target.getHostTarget(), kernel).getScratchBytes();
}

unsigned TargetInfo::getSupportLevel(LibraryCallOpInterface call) const {
  return target ? target.getSupportLevel(call.describeCall(std::nullopt)) : 1;
}

Type TargetInfo::getProductType(Type element) const {
  return target ? target.getProductType(element) : element;
}

ChosenAlgorithm TargetInfo::chooseAlgorithm(LibraryCallOpInterface call) const {
  return target ? target.chooseAlgorithm(call.describeCall(std::nullopt)) : ChosenAlgorithm();
}

bool TargetInfo::supportsAlgorithm(LibraryCallOpInterface call, CallAlgorithm algorithm) const {
  CallAttrInterface described = call.describeCall(std::nullopt).withAlgorithm(algorithm);
  return target && described && target.getSupportLevel(described) > 0;
}

double TargetInfo::getCallSeconds(CallAttrInterface call) const {
  return target ? target.getCallSeconds(call) : 0;
}

double TargetInfo::getKernelSeconds(Operation *kernel) const {
  return target ? target.getKernelSeconds(kernel) : 0;
}

double TargetInfo::getHostKernelSeconds(Operation *kernel) const {
  return target ? target.getHostKernelSeconds(kernel) : 0;
}

double TargetInfo::getCopySeconds(int64_t bytes) const {
  return target ? target.getCopySeconds(bytes) : 0;
}

double TargetInfo::getTransferSeconds(MemorySpace source, MemorySpace destination,
                                      int64_t bytes) const {
  return target ? target.getTransferSeconds(source, destination, bytes) : 0;
}

std::string TargetInfo::describeRates() const { return target ? target.describeRates() : ""; }

std::string TargetInfo::describeHostRates() const {
  if (!hasHostKernels())
    return "";
  TargetAttrInterface host = target.getHostTarget();
  const unsigned threads = host.getThreads();
  return (Twine(threads) + (threads == 1 ? " thread, " : " threads, ") + host.describeRates())
      .str();
}

bool TargetInfo::isFasterAsKernel(LibraryCallOpInterface call) const {
  return target && target.isFasterAsKernel(call.describeCall(std::nullopt));
}
