//===- SequenceSplits.cpp - Division of sequences among ranks ---------------------------------===//

#include "passes/splitting/SequenceSplits.h"

#include "ir/ReservedNames.h"
#include "ir/attributes/DiscardableAttributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mtc;

namespace {

/// An axis of an argument of a function.
struct ArgumentAxis {
  BlockArgument argument;
  StringRef input; ///< the argument's name
  int64_t axis;
};

} // namespace

/// Returns the axes of a function's inputs other than the batch axis, which is the first one.
static SmallVector<ArgumentAxis> axesOf(func::FuncOp function, ProgramOp program) {
  SmallVector<ArgumentAxis> axes;
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), nameAttribute);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    InputOp input = name && program ? program.findInput(name) : InputOp();
    if (!input || !type)
      continue;
    for (int64_t axis = 1; axis < type.getRank(); ++axis)
      axes.push_back({argument, name.getValue(), axis});
  }
  return axes;
}

/// Calls `use` with the axes of each function's inputs.
template <typename Use> static void forEachAxis(ModuleOp module, const Use &use) {
  ProgramOp program = ProgramOp::find(module);
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      for (const ArgumentAxis &axis : axesOf(function, program))
        use(function, axis);
}

static int64_t productsOf(func::FuncOp function) {
  int64_t products = 0;
  function.walk([&](Operation *op) { products += AxisGroups::productsOf(op); });
  return products;
}

SequenceSplits mtc::chooseSequenceSplits(ModuleOp module, AxisGroups &groups, int64_t parts,
                                         int64_t stride) {
  SequenceSplits best;
  auto splitOf = [&](int64_t axis) {
    return AxisSplitAttr::get(module.getContext(), axis, 1, parts, stride);
  };
  forEachAxis(module, [&](func::FuncOp function, const ArgumentAxis &each) {
    if (function.getSymName() != microStepName ||
        !divides(splitOf(each.axis), each.argument.getType()))
      return;
    const int64_t products = groups.growInput(each.argument, splitOf(each.axis), {}).products;
    if (products > best.products)
      best = {each.input.str(), each.axis, {}, products, productsOf(function)};
  });
  // Other functions divide the same axis, and so do those of other shapes.
  forEachAxis(module, [&](func::FuncOp, const ArgumentAxis &each) {
    if (each.input != best.input || each.axis != best.axis ||
        !divides(splitOf(each.axis), each.argument.getType()))
      return;
    AxisGroup group = groups.growInput(each.argument, splitOf(each.axis), best.splits);
    for (auto &[op, split] : group.splits.operations)
      best.splits.operations.insert({op, split});
  });
  return best;
}

std::string mtc::describeOddAxes(ModuleOp module, int64_t parts) {
  std::string text;
  forEachAxis(module, [&](func::FuncOp function, const ArgumentAxis &each) {
    const int64_t extent = cast<RankedTensorType>(each.argument.getType()).getDimSize(each.axis);
    if (function.getSymName() != microStepName || extent % parts == 0 || extent == 1)
      return;
    text +=
        (text.empty() ? "" : ", ") +
        llvm::formatv("axis {0} of '{1}' has {2} elements", each.axis, each.input, extent).str();
  });
  return text;
}
