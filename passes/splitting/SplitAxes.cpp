//===- SplitAxes.cpp - Division of layers among ranks -----------------------------------------===//

#include "ir/attributes/DiscardableAttributes.h"
#include "passes/Passes.h"
#include "passes/splitting/FunctionSplitter.h"

namespace mtc {
#define GEN_PASS_DEF_SPLITAXES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

class SplitAxesPass : public mtc::impl::SplitAxesBase<SplitAxesPass> {
public:
  using SplitAxesBase::SplitAxesBase;

  void runOnOperation() override {
    ProgramOp program = ProgramOp::find(getOperation());
    RankGroup group = program ? program.getTensorGroup() : RankGroup();
    int64_t parts = program && program.getRanks() ? program.getRanksAttr().getTensorChunks() : 1;
    if (ranks) {
      group.count = ranks;
      parts = ranks;
    }
    parts = std::max(parts, chunks.getValue());
    if (parts == 1)
      return;
    AxisGroups groups(getOperation(), parts);
    const Splits splits = groups.choose(seed);
    if (splits.families.empty())
      return refuse(parts);
    for (auto function : getOperation().getOps<func::FuncOp>())
      FunctionSplitter(function, splits, groups.getFamilies(), group, parts).run();
    // Ranks store other values than one rank does. Casts that round only what a kernel stores would
    // round other values.
    getOperation().walk([](CastOp cast) { cast.setStorage(false); });
    for (const auto &[name, split] : splits.families)
      groups.getFamilies().get(name).variables.front()->setAttr(chunksAttribute, split);
    if (group.count == 1)
      return;
    for (const auto &[name, split] : splits.families)
      for (VariableOp variable : groups.getFamilies().get(name).variables)
        variable.becomePart(forRanks(split, group.count));
    report(splits, groups.getFamilies(), group.count);
  }

private:
  /// Reports that no axis can be divided into this number of parts, and numbers that are possible.
  void refuse(int64_t parts) {
    auto error = emitError(getOperation().getLoc(), "--tensor ")
                 << parts << ": no layer can be divided into " << parts << " parts";
    for (int64_t fewer = parts - 1; fewer > 1; --fewer)
      if (!AxisGroups(getOperation(), fewer).choose().families.empty()) {
        error << "; --tensor " << fewer << " divides some";
        break;
      }
    signalPassFailure();
  }

  void report(const Splits &splits, const VariableFamilies &families, int64_t count) {
    int64_t parameters = 0, elements = 0, divided = 0, dividedElements = 0;
    for (const auto &[name, family] : families.all()) {
      if (VariableOp(family.variables.front()).getRole() == Role::State)
        continue;
      const int64_t size = family.type.getNumElements();
      ++parameters;
      elements += size;
      divided += splits.families.contains(name) ? 1 : 0;
      dividedElements += splits.families.contains(name) ? size : 0;
    }
    emitRemark(getOperation().getLoc(), "--tensor ")
        << count << ": " << divided << " of " << parameters << " parameters are divided, "
        << 100 * dividedElements / std::max<int64_t>(elements, 1) << " % of their elements";
  }
};

} // namespace
