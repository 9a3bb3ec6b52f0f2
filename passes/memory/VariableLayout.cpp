//===- VariableLayout.cpp - Slices of what outlives a step ------------------------------------===//

#include "passes/memory/VariableLayout.h"

#include "ir/VariableAccess.h"

using namespace mlir;
using namespace mtc;

namespace {

class VariableLayouter {
public:
  explicit VariableLayouter(ModuleOp module) : symbols(module), module(module) {}

  FailureOr<VariableLayout> run() {
    WalkResult result = module.walk([&](Operation *op) {
      return isa<ReadFlatOp, WriteFlatOp>(op) ? WalkResult(allocateGroup(op))
                                              : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    for (VariableOp variable : module.getOps<VariableOp>())
      if (!variable.getTransient())
        allocate(variable);
    return std::move(layout);
  }

private:
  int64_t allocate(VariableOp variable) {
    auto [entry, isNew] = layout.offsets.try_emplace(variable.getSymName(), layout.size);
    if (isNew)
      layout.size += paddedBytes(byteSize(variable.getTensorType()));
    return entry->second;
  }

  LogicalResult allocateGroup(Operation *user) {
    int64_t expected = -1;
    for (FlatSymbolRefAttr symbol :
         llvm::concat<FlatSymbolRefAttr>(readVariables(user), writtenVariables(user))) {
      auto variable = symbols.lookup<VariableOp>(symbol.getValue());
      if (variable.getTransient())
        continue;
      int64_t offset = allocate(variable);
      if (expected >= 0 && offset != expected)
        return user->emitOpError("needs ")
               << symbol << " behind its predecessor, where another flat tensor does not have it";
      expected = offset + paddedBytes(byteSize(variable.getTensorType()));
    }
    return success();
  }

  SymbolTable symbols;
  ModuleOp module;
  VariableLayout layout;
};

} // namespace

FailureOr<VariableLayout> VariableLayout::compute(ModuleOp module) {
  return VariableLayouter(module).run();
}
