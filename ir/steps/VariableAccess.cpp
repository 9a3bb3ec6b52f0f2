//===- VariableAccess.cpp - Operations that read and write variables --------------------------===//

#include "ir/steps/VariableAccess.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;

SmallVector<FlatSymbolRefAttr> mtc::readVariables(Operation *op) {
  if (auto read = dyn_cast<ReadOp>(op))
    return {read.getVariableAttr()};
  if (auto read = dyn_cast<ReadFlatOp>(op))
    return llvm::to_vector(read.getVariables().getAsRange<FlatSymbolRefAttr>());
  return {};
}

SmallVector<FlatSymbolRefAttr> mtc::writtenVariables(Operation *op) {
  if (auto write = dyn_cast<WriteOp>(op))
    return {write.getVariableAttr()};
  if (auto write = dyn_cast<WriteFlatOp>(op))
    return llvm::to_vector(write.getVariables().getAsRange<FlatSymbolRefAttr>());
  return {};
}

int64_t mtc::bytesOfCopy(VariableOp variable) {
  const int64_t bytes = paddedBytes(byteSize(variable.getTensorType()));
  return variable.getSpace() == MemorySpace::Device
             ? bytes
             : static_cast<int64_t>(llvm::alignTo(bytes, TransferSlotsOp::alignment));
}

VariableAccesses::VariableAccesses(Block &block) {
  for (Operation &op : block) {
    for (FlatSymbolRefAttr variable : readVariables(&op))
      readers[variable].push_back(&op);
    for (FlatSymbolRefAttr variable : writtenVariables(&op))
      writers[variable].push_back(&op);
  }
}
