//===- SplitAxes.cpp - Division of layers among ranks -----------------------------------------===//

#include "ir/attributes/DiscardableAttributes.h"
#include "passes/Passes.h"
#include "passes/splitting/FixRounding.h"
#include "passes/splitting/FunctionSplitter.h"
#include "passes/splitting/RepeatKeyHeads.h"
#include "passes/splitting/SequenceSplits.h"

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
    RanksAttr all;
    if (ProgramOp program = ProgramOp::find(getOperation()))
      all = program.getRanksAttr();
    RankGroup layers = all ? all.getTensorGroup() : RankGroup();
    int64_t parts = all ? all.getTensorChunks() : 1;
    if (ranks) {
      layers.count = ranks;
      parts = ranks;
    }
    parts = std::max(parts, chunks.getValue());
    const int64_t contextParts = all ? all.getContextParts() : 1;
    if (parts == 1 && contextParts == 1) {
      if (all && all.getPipeline())
        fixRounding(getOperation());
      return;
    }
    repeatKeyHeads(getOperation(), parts * contextParts);
    // The choice does not depend on the number of ranks that share a sequence.
    std::optional<AxisGroups> groups;
    Splits splits;
    if (parts > 1) {
      splits = groups.emplace(getOperation(), parts).choose(seed);
      if (splits.families.empty())
        return refuse(parts);
    }
    if (contextParts > 1) {
      if (failed(divideSequences(all.getContextGroup(), contextParts, parts)))
        return signalPassFailure();
      if (parts > 1) // The functions have new operations.
        splits = groups.emplace(getOperation(), parts).follow(splits.families);
    }
    if (parts > 1)
      divideLayers(*groups, splits, layers, parts);
    fixRounding(getOperation());
  }

private:
  void divideLayers(const AxisGroups &groups, const Splits &splits, RankGroup group,
                    int64_t parts) {
    for (auto function : getOperation().getOps<func::FuncOp>())
      FunctionSplitter(function, splits, groups.getFamilies(), group, parts).run();
    for (const auto &[name, split] : splits.families)
      groups.getFamilies().get(name).variables.front()->setAttr(chunksAttribute, split);
    if (group.count == 1)
      return;
    for (const auto &[name, split] : splits.families)
      for (VariableOp variable : groups.getFamilies().get(name).variables)
        variable.becomePart(forRanks(split, group.count));
    report(splits, groups.getFamilies(), group.count);
  }

  /// `headBlocks` ranks may divide heads, too.
  LogicalResult divideSequences(RankGroup group, int64_t parts, int64_t headBlocks) {
    AxisGroups groups(getOperation(), parts, headBlocks);
    SequenceSplits found = chooseSequenceSplits(getOperation(), groups, parts, group.stride);
    Location location = getOperation().getLoc();
    if (found.products == 0) {
      const std::string odd = describeOddAxes(getOperation(), parts);
      return emitError(location, "--context ")
             << parts << ": contractions cannot be divided into " << parts
             << " parts along any axis of an input but that of the batch"
             << (odd.empty() ? ""
                             : ": " + odd + "; expected a multiple of " + std::to_string(parts));
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      FunctionSplitter(function, found.splits, groups.getFamilies(), group, parts).run();
    if (group.count > 1)
      emitRemark(location, "--context ")
          << group.count << ": axis " << found.axis << " of '" << found.input << "', and with it "
          << 100 * found.products / std::max<int64_t>(found.allProducts, 1)
          << " % of the floating-point operations of contractions, are divided";
    return success();
  }

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
