//===- OffloadVariables.cpp - Offloads variables to another memory space ----------------------===//

#include "passes/Passes.h"
#include "passes/offload/OffloadOptions.h"
#include "passes/offload/VariableOffload.h"

#include "mlir/IR/Remarks.h"

namespace mtc {
#define GEN_PASS_DEF_OFFLOADVARIABLES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

/// Drops groups that the budget does not require, first those that are offloaded last. The
/// estimate ignores that copies need memory, except for transfer slots of the maximum size.
static LogicalResult keepNeeded(std::vector<VariableGroup> &groups, MemoryAnalysis &analysis,
                                const OffloadPassOptions &options) {
  FailureOr<int64_t> bytes = analysis.findArenaBytes();
  if (failed(bytes))
    return failure();
  int64_t excess = *bytes - *options.budget;
  if (excess > 0)
    excess += VariableMover::slotCount * options.choice.getWindow(options.budget);
  size_t count = 0;
  for (; count < groups.size() && excess > 0; ++count)
    excess -= groups[count].bytes;
  groups.resize(count);
  llvm::erase_if(groups, [&](const VariableGroup &group) {
    const bool isSpare = excess + group.bytes <= 0;
    if (isSpare)
      excess += group.bytes;
    return isSpare;
  });
  return success();
}

static void reportKept(const VariableGroup &group) {
  VariableOp variable = group.variables.front();
  remark::missed(variable.getLoc(), remark::RemarkOpts::name("kept").category("mtc-offload"))
      << remark::add("'{0}' is not offloaded: {1}", variable.getSymName(), group.refusal);
}

/// Offloads groups of a kind, as many as the budget requires. Returns the number of variables.
static FailureOr<OffloadedVariables> offload(ModuleOp module, const OffloadPassOptions &options,
                                             OffloadKind kind, std::vector<VariableGroup> groups,
                                             bool isReported) {
  MemoryAnalysis analysis(module);
  OperationTimes times(module);
  if (failed(analysis.update()))
    return failure();
  // Groups that cannot be moved are reported before the budget selects from the other groups.
  const int64_t window = options.choice.getWindow(options.budget);
  const std::unique_ptr<VariableMover> trial = makeMover(kind, module, analysis, times, window);
  llvm::erase_if(groups, [&](VariableGroup &group) {
    if (group.refusal.empty())
      group.refusal = trial->plan(group);
    if (!group.refusal.empty() && isReported)
      reportKept(group);
    return !group.refusal.empty();
  });
  if (options.budget && failed(keepNeeded(groups, analysis, options)))
    return failure();
  if (groups.empty())
    return OffloadedVariables();
  const std::unique_ptr<VariableMover> mover = makeMover(kind, module, analysis, times, window);
  OffloadedVariables moved;
  for (VariableGroup &group : groups)
    if (mover->plan(group).empty()) {
      moved.bytes += group.bytes;
      moved.count += group.variables.size();
    }
  RewriterBase::Listener none;
  EditLog edits(none);
  mover->apply(edits);
  const int64_t slots = VariableMover::slotCount * mover->getSlotBytes();
  if (isReported && slots >= moved.bytes)
    emitWarning(UnknownLoc::get(module.getContext()), "--offload: frees ")
        << moved.bytes << " bytes, but the copy windows need " << slots
        << "; use an --offload-window smaller than " << window << " to need less memory";
  if (isReported)
    reportOffloaded(module, moved.count, moved.bytes);
  return moved;
}

FailureOr<OffloadedVariables> mtc::offloadVariables(ModuleOp module,
                                                    const OffloadPassOptions &options,
                                                    const OffloadUses &uses, bool isReported) {
  OffloadedVariables all;
  auto offloadAll = [&](OffloadKind kind, std::vector<VariableGroup> groups) {
    FailureOr<OffloadedVariables> moved =
        offload(module, options, kind, std::move(groups), isReported);
    if (failed(moved))
      return failure();
    all.count += moved->count;
    all.bytes += moved->bytes;
    return success();
  };
  // State that the host does not update may still be offloaded as other state.
  if (uses[OffloadKind::Update] == OffloadUse::On &&
      failed(offloadAll(OffloadKind::Update, collectUpdateGroups(module))))
    return failure();
  auto isAsked = [&](OffloadKind kind) { return uses[kind] == OffloadUse::On; };
  std::vector<VariableGroup> groups = collectGroups(module, isAsked);
  if (!groups.empty() && failed(offloadAll(OffloadKind::Optimizer, std::move(groups))))
    return failure();
  return all;
}

namespace {

class OffloadVariablesPass
    : public PassWithOptions<mtc::impl::OffloadVariablesBase<OffloadVariablesPass>,
                             OffloadPassOptions> {
public:
  using PassWithOptions::PassWithOptions;

private:
  void runOnOperation() override {
    FailureOr<OffloadPassOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    ModuleOp module = getOperation();
    const OffloadUses uses = options->choice.getUses(TargetInfo::of(module).getOffloadSpace());
    const bool isAsked = llvm::any_of(offloadKinds, [&](OffloadKind kind) {
      return kind != OffloadKind::Activations && uses[kind] == OffloadUse::On;
    });
    if (isAsked && failed(offloadVariables(module, *options, uses, /*isReported=*/true)))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createOffloadVariables(const OffloadPassOptions &options) {
  return std::make_unique<OffloadVariablesPass>(options);
}
