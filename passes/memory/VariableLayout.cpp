//===- VariableLayout.cpp - Offsets of what outlives a step -----------------------------------===//

#include "passes/memory/VariableLayout.h"

#include "ir/VariableAccess.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mtc;

class mtc::VariableLayouter {
public:
  explicit VariableLayouter(int64_t gap) : gap(gap) {}

  FailureOr<VariableLayout> run(ModuleOp module) {
    for (VariableOp variable : module.getOps<VariableOp>())
      layout.entries[variable.getSymNameAttr()] = {
          variable, paddedBytes(byteSize(variable.getTensorType())), std::nullopt};
    for (auto function : module.getOps<func::FuncOp>())
      for (Operation &op : function.front())
        if (isa<ReadFlatOp, WriteFlatOp>(op) && failed(allocateGroup(&op)))
          return failure();
    for (VariableOp variable : module.getOps<VariableOp>())
      if (VariableLayout::Entry &entry = layout.entries[variable.getSymNameAttr()];
          !variable.getTransient() && !entry.offset) {
        allocate(entry);
        layout.size += gap;
      }
    return std::move(layout);
  }

private:
  void allocate(VariableLayout::Entry &entry) {
    if (entry.offset)
      return;
    entry.offset = layout.size;
    layout.size += entry.bytes;
  }

  LogicalResult allocateGroup(Operation *user) {
    int64_t expected = -1;
    for (FlatSymbolRefAttr symbol :
         llvm::concat<FlatSymbolRefAttr>(readVariables(user), writtenVariables(user))) {
      VariableLayout::Entry &entry = layout.entries[symbol.getAttr()];
      if (entry.variable.getTransient())
        continue;
      allocate(entry);
      if (expected >= 0 && *entry.offset != expected)
        return user->emitOpError("needs ")
               << symbol << " behind its predecessor, where another flat tensor does not have it";
      expected = *entry.offset + entry.bytes;
    }
    return success();
  }

  const int64_t gap;
  VariableLayout layout;
};

FailureOr<VariableLayout> VariableLayout::compute(ModuleOp module, int64_t gap) {
  return VariableLayouter(gap).run(module);
}
