//===- TestSplits.cpp - All divisions of single operations, for tests -------------------------===//

#include "passes/Passes.h"
#include "passes/splitting/FunctionSplitter.h"

namespace mtc {
#define GEN_PASS_DEF_TESTSPLITS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// A division of an operation, and the axis from which it follows.
struct FoundSplit {
  OperationSplit split;
  std::string origin;
};

/// Fused weights of queries, keys and values have three blocks.
constexpr int64_t maximumOuter = 3;

struct TestSplitsPass : mtc::impl::TestSplitsBase<TestSplitsPass> {
  using TestSplitsBase::TestSplitsBase;

  void runOnOperation() override {
    VariableFamilies families(getOperation());
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (Operation *op = findTested(function))
        for (auto [i, found] : llvm::enumerate(findSplits(op)))
          addFunction(function, found, i, families);
    }
  }

private:
  static Operation *findTested(func::FuncOp function) {
    Operation *end = function.front().getTerminator();
    return end->getNumOperands() ? end->getOperand(0).getDefiningOp() : nullptr;
  }

  SmallVector<FoundSplit, 0> findSplits(Operation *op) const {
    SmallVector<FoundSplit, 0> found;
    SplitRules rules;
    auto follow = [&](Position position, Type type) {
      for (int64_t axis = 0; axis < cast<RankedTensorType>(type).getRank(); ++axis)
        for (int64_t outer = 1; outer <= maximumOuter; ++outer) {
          auto split = AxisSplitAttr::get(op->getContext(), axis, outer, chunks, 1);
          std::optional<OperationSplit> derived;
          if (divides(split, type))
            derived = rules.derive(op, position, split);
          if (!derived ||
              llvm::any_of(found, [&](const FoundSplit &each) { return each.split == *derived; }))
            continue;
          std::string origin = (llvm::Twine(position.isResult ? "result " : "operand ") +
                                llvm::Twine(position.number) + " axis " + llvm::Twine(axis) +
                                " outer " + llvm::Twine(outer))
                                   .str();
          found.push_back({std::move(*derived), std::move(origin)});
        }
    };
    for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
      follow({false, static_cast<unsigned>(i)}, type);
    for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
      follow({true, static_cast<unsigned>(i)}, type);
    return found;
  }

  void addFunction(func::FuncOp function, const FoundSplit &found, size_t number,
                   const VariableFamilies &families) {
    func::FuncOp divided = function.clone();
    divided.setName((function.getName() + "_split" + llvm::Twine(number)).str());
    divided->setAttr("split", StringAttr::get(&getContext(), found.origin));
    getOperation().push_back(divided);
    Splits splits;
    splits.operations.insert({findTested(divided), found.split});
    FunctionSplitter(divided, splits, families, {ranks, 1}, chunks).run();
  }
};

} // namespace
