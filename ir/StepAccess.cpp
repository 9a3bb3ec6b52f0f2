//===- StepAccess.cpp - What an operation of a placed step reads and writes -------------------===//

#include "ir/StepAccess.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc;

StepAccess::StepAccess(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<LaunchOp, CallOp>([&](auto run) {
        llvm::append_range(reads, run.getInputs().template getAsRange<AtAttr>());
        llvm::append_range(results, run.getOutputs().template getAsRange<AtAttr>());
        if (auto bytes = static_cast<int64_t>(run.getScratchBytes()); bytes > 0)
          scratch =
              AtAttr::get(op->getContext(), run.getScratchOffset(),
                          RankedTensorType::get({bytes}, IntegerType::get(op->getContext(), 8)));
        lastUses = run.getLastUses().value_or(ArrayRef<int64_t>());
        dependencies = run.getDependencies();
      })
      .Case<CopyOp, AsyncCopyOp>([&](auto copy) {
        reads.push_back(copy.getSource());
        results.push_back(copy.getDestination());
        lastUses = copy.getLastUses().value_or(ArrayRef<int64_t>());
        dependencies = copy.getDependencies();
      });
}

SmallVector<AtAttr> StepAccess::getWrites() const {
  SmallVector<AtAttr> writes = results;
  if (scratch)
    writes.push_back(scratch);
  return writes;
}

void mtc::setLastUses(Operation *op, ArrayRef<int64_t> lastUses) {
  llvm::TypeSwitch<Operation *>(op).Case<LaunchOp, CallOp, CopyOp, AsyncCopyOp>(
      [&](auto access) { access.setLastUses(lastUses); });
}

int64_t mtc::getNumberInBlock(Operation *op) {
  return std::distance(op->getBlock()->begin(), op->getIterator());
}
