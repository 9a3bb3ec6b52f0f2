//===- PadAxes.cpp - Padding of axes that cannot be divided among ranks -----------------------===//

#include "passes/Passes.h"
#include "passes/splitting/FunctionPadder.h"

#include <numeric>
#include <random>

namespace mtc {
#define GEN_PASS_DEF_PADAXES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

/// The extent is at least this many times the padding: more takes longer than it saves.
static constexpr int64_t minUnitsOfPadding = 8;

namespace {

class PadAxesPass : public mtc::impl::PadAxesBase<PadAxesPass> {
public:
  using PadAxesBase::PadAxesBase;

  void runOnOperation() override {
    RanksAttr all;
    if (ProgramOp program = ProgramOp::find(getOperation()))
      all = program.getRanksAttr();
    count = parts ? parts.getValue() : all ? all.getTensorChunks() : 1;
    if (count == 1)
      return;
    AxisGroups groups(getOperation(), count);
    const PaddedAxes axes = choose(groups);
    for (auto function : getOperation().getOps<func::FuncOp>())
      FunctionPadder(function, axes, groups.getFamilies()).run();
    for (const auto &[name, split] : axes.splits.families) {
      const VariableFamily &family = groups.getFamilies().get(name);
      const int64_t block = family.type.getDimSize(split.getAxis()) / split.getOuter();
      for (VariableOp variable : family.variables)
        variable.pad(split.getAxis(), split.getOuter(), axes.families.lookup(name).after(block));
    }
    if (all && all.getTensorGroup().count > 1)
      report(axes, groups.getFamilies(), all.getTensorGroup().count);
  }

private:
  PaddedAxes choose(AxisGroups &groups);
  std::vector<AxisGroup> draw(AxisGroups &groups);
  int64_t unitOf(const AxisGroup &group, const VariableFamilies &families);
  std::optional<AxisPadding> paddingOf(const AxisGroup &group, const VariableFamilies &families);
  void report(const PaddedAxes &axes, const VariableFamilies &families, int64_t ranks);

  int64_t count = 1;
};

} // namespace

/// Returns the number of elements of which all extents of a group's axes are multiples; 0 if the
/// axes cannot get padding.
int64_t PadAxesPass::unitOf(const AxisGroup &group, const VariableFamilies &families) {
  int64_t unit = 0;
  auto add = [&](Type type, AxisSplitAttr split) {
    if (split)
      unit = std::gcd(unit,
                      cast<RankedTensorType>(type).getDimSize(split.getAxis()) / split.getOuter());
  };
  for (const auto &[name, split] : group.splits.families) {
    const VariableFamily &family = families.get(name);
    // Compressed variables have blocks of their own.
    if (llvm::any_of(family.variables,
                     [](VariableOp each) { return isa<StoredAttr>(each.getInitial()); }))
      return 0;
    add(family.type, split);
  }
  for (const auto &[op, split] : group.splits.operations) {
    if (!canPad(op, split))
      continue;
    for (auto [type, part] : llvm::zip_equal(op->getOperandTypes(), split.operands))
      add(type, part);
    for (auto [type, part] : llvm::zip_equal(op->getResultTypes(), split.results))
      add(type, part);
  }
  return unit;
}

/// Returns the padding that lets the axes of a group be divided; nothing if they can be divided
/// without, or only with much of it.
std::optional<AxisPadding> PadAxesPass::paddingOf(const AxisGroup &group,
                                                  const VariableFamilies &families) {
  const int64_t unit = unitOf(group, families);
  if (unit <= 1 || unit % count == 0)
    return std::nullopt;
  const AxisPadding padding{unit, (unit + count - 1) / count * count};
  const int64_t times = seed ? 1 : minUnitsOfPadding;
  return unit >= times * (padding.padded - unit) ? std::optional(padding) : std::nullopt;
}

/// Returns groups drawn at random that need padding.
std::vector<AxisGroup> PadAxesPass::draw(AxisGroups &groups) {
  std::mt19937_64 random(static_cast<uint64_t>(seed.getValue()));
  std::vector<AxisGroup> drawn;
  Splits taken;
  for (const auto &[name, family] : groups.getFamilies().all())
    for (int64_t axis = 0; axis < family.type.getRank(); ++axis) {
      auto split = AxisSplitAttr::get(&getContext(), axis, 1, /*parts=*/1, /*stride=*/1);
      if (taken.families.contains(name) || !family.canSplit(split))
        continue;
      AxisGroup group = groups.grow(name, split, taken);
      if (!paddingOf(group, groups.getFamilies()) || random() % 3 == 0)
        continue;
      taken.add(group.splits);
      drawn.push_back(std::move(group));
    }
  return drawn;
}

PaddedAxes PadAxesPass::choose(AxisGroups &groups) {
  const VariableFamilies &families = groups.getFamilies();
  auto accepts = [&](const AxisGroup &group) {
    const int64_t unit = unitOf(group, families);
    return unit && (unit % count == 0 || paddingOf(group, families));
  };
  PaddedAxes axes;
  for (const AxisGroup &group : seed ? draw(groups) : groups.chooseGroups(/*parts=*/1, accepts)) {
    const std::optional<AxisPadding> padding = paddingOf(group, families);
    if (!padding)
      continue; // The axes can be divided without.
    for (const auto &[op, part] : group.splits.operations)
      if (canPad(op, part)) {
        axes.splits.operations.insert({op, part});
        axes.operations.insert({op, *padding});
      }
    for (const auto &[name, part] : group.splits.families) {
      axes.splits.families.insert({name, part});
      axes.families[name] = *padding;
    }
  }
  return axes;
}

void PadAxesPass::report(const PaddedAxes &axes, const VariableFamilies &families, int64_t ranks) {
  // Equal layers have equal padding.
  llvm::MapVector<std::pair<int64_t, int64_t>, SmallVector<StringRef>> names; // by extents
  for (const auto &[name, split] : axes.splits.families) {
    const int64_t extent = families.get(name).type.getDimSize(split.getAxis());
    names[{extent, extent + axes.families.lookup(name).after(extent)}].push_back(name);
  }
  for (const auto &[extents, padded] : names) {
    auto remark = emitRemark(getOperation().getLoc(), "--tensor ")
                  << ranks << ": an axis of '" << padded.front() << "'";
    if (const size_t others = padded.size() - 1)
      remark << " and of " << others << (others > 1 ? " others" : " other");
    remark << " is padded from " << extents.first << " to " << extents.second << " elements";
  }
}
