//===- VariableLayout.cpp - Arena offsets of variables ----------------------------------------===//

#include "passes/memory/VariableLayout.h"

#include "ir/steps/VariableAccess.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;

class mtc::VariableLayouter {
public:
  explicit VariableLayouter(int64_t gap) : gap(gap) {}

  FailureOr<VariableLayout> run(ModuleOp module) {
    for (VariableOp variable : module.getOps<VariableOp>())
      layout.entries[variable.getSymNameAttr()] = {variable,
                                                   paddedBytes(byteSize(variable.getTensorType())),
                                                   std::nullopt, variable.getSpace()};
    for (auto function : module.getOps<func::FuncOp>())
      for (Operation &op : function.front())
        if (isa<ReadFlatOp, WriteFlatOp>(op) && failed(allocateGroup(&op)))
          return failure();
    for (VariableOp variable : module.getOps<VariableOp>())
      if (VariableLayout::Entry &entry = layout.entries[variable.getSymNameAttr()];
          !variable.getTransient() && !variable.isElsewhere() && !entry.offset) {
        allocate(entry, /*startsSlice=*/true);
        if (entry.space == MemorySpace::Device)
          layout.sizes[static_cast<unsigned>(MemorySpace::Device)] += gap;
      }
    return std::move(layout);
  }

private:
  void allocate(VariableLayout::Entry &entry, bool startsSlice) {
    if (entry.offset)
      return;
    int64_t &size = layout.sizes[static_cast<unsigned>(entry.space)];
    if (startsSlice && entry.space != MemorySpace::Device)
      size = llvm::alignTo(size, TransferSlotsOp::alignment);
    entry.offset = size;
    VariableOp variable = entry.variable;
    const auto copies = static_cast<int64_t>(variable.getCopies());
    size += copies == 1 ? entry.bytes : copies * bytesOfCopy(variable);
  }

  LogicalResult allocateGroup(Operation *user) {
    int64_t expected = -1;
    std::optional<MemorySpace> space;
    for (FlatSymbolRefAttr symbol :
         llvm::concat<FlatSymbolRefAttr>(readVariables(user), writtenVariables(user))) {
      VariableLayout::Entry &entry = layout.entries[symbol.getAttr()];
      if (entry.variable.getTransient())
        continue;
      if (space.value_or(entry.space) != entry.space)
        return user->emitOpError("has ")
               << symbol << " in memory space " << stringifyEnum(entry.space)
               << ", but its predecessor in " << stringifyEnum(*space);
      space = entry.space;
      allocate(entry, /*startsSlice=*/expected < 0);
      if (expected >= 0 && *entry.offset != expected)
        return user->emitOpError("needs ")
               << symbol
               << " directly after its predecessor, but another flat tensor places it elsewhere";
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
