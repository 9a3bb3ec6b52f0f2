//===- SearchTest.cpp - The end of a search ---------------------------------------------------===//

#include "passes/search/Search.h"

#include "ir/attributes/DiscardableAttributes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

using namespace mlir;
using namespace mtc;

namespace {

constexpr const char *text = R"(
func.func @step(%x: tensor<16xf32> {mtc.name = "x"}) -> tensor<16xf32> {
  %y = mtc.kernel [16](%x) : (tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%a: tensor<16xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<16xf32> -> f32
    %s = arith.negf %v : f32
    mtc.kernel.yield %s at [affine_map<(d0) -> (d0)>] : f32
  }
  return %y : tensor<16xf32>
}
)";

/// A technique that always proposes a candidate, which never frees memory.
class Endless final : public PeakReducer {
public:
  Endless(const FunctionBudget &budget, int64_t &taken) : budget(budget), taken(taken) {}

  FailureOr<std::optional<Candidate>> findCandidate(int64_t) override {
    return std::optional(Candidate{/*bytes=*/64, /*time=*/0});
  }
  FailureOr<bool> applyCandidate() override {
    ++taken;
    for (Operation &op : budget.function.getFunction().front())
      budget.analysis.notifyOperationModified(&op);
    return true;
  }
  void noticeChange() override {}
  void report() const override {}

private:
  const FunctionBudget &budget;
  int64_t &taken;
};

/// Returns the number of changes of each function.
std::map<std::string, int64_t>
countTaken(StringRef source, double maxSeconds = std::numeric_limits<double>::infinity()) {
  MLIRContext context;
  context.loadDialect<MtcDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  std::map<std::string, int64_t> taken;
  FailureOr<FittedModule> fitted = searchFit(
      *module, /*budget=*/0,
      [&](const FunctionBudget &budget, OperationTimes &) {
        PeakReducers techniques;
        techniques.push_back(std::make_unique<Endless>(
            budget, taken[budget.function.getFunction().getSymName().str()]));
        return techniques;
      },
      maxSeconds);
  EXPECT_TRUE(succeeded(fitted));
  return taken;
}

TEST(Search, EndsWhereNothingFits) {
  const int64_t count = countTaken(text)["step"];
  EXPECT_GT(count, 100);
  EXPECT_EQ(count, countTaken(text)["step"]); // The same each time, however long it takes.
}

TEST(Search, EndsWhenTheUpdateTakesTooLong) {
  EXPECT_GT(countTaken(text, /*maxSeconds=*/1)["step"], 100);
  EXPECT_EQ(countTaken(text, /*maxSeconds=*/0)["step"], 0);
}

// A function that exhausts its effort does not reduce the effort of the next function.
TEST(Search, GivesEachFunctionItsOwnEffort) {
  const std::string again = "func.func @evaluate" + StringRef(text).split("@step").second.str();
  std::map<std::string, int64_t> taken = countTaken(text + again);
  EXPECT_GT(taken["step"], 100);
  EXPECT_EQ(taken["step"], taken["evaluate"]);
}

// A search that cannot free enough memory from the module as given succeeds from another start.
TEST(Search, StartsFromOtherChanges) {
  MLIRContext context;
  context.loadDialect<MtcDialect, func::FuncDialect>();
  const std::string source =
      std::string("mtc.variable frozen @w : tensor<4096xf32> = #mtc.zeros\n") + text;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  ASSERT_TRUE(module);
  int applied = 0, reported = 0;
  SearchStart none{
      {"none"}, /*maxFreed=*/1 << 20, [](ModuleOp) { return std::function<void()>(); }};
  SearchStart erase{{"erase"}, /*maxFreed=*/4096 * 4, [&](ModuleOp copy) {
                      ++applied;
                      for (VariableOp variable :
                           llvm::make_early_inc_range(copy.getOps<VariableOp>()))
                        variable.erase();
                      return std::function<void()>([&] { ++reported; });
                    }};
  auto search = [&](ArrayRef<SearchStart> starts) {
    return searchFit(
        *module, /*budget=*/8192,
        [](const FunctionBudget &, OperationTimes &) { return PeakReducers(); },
        std::numeric_limits<double>::infinity(), Deadline::max(), starts);
  };
  SearchStart tooSmall = erase; // The lower bound without 4 bytes exceeds the budget.
  tooSmall.maxFreed = 4;
  FailureOr<FittedModule> fitted = search({none, tooSmall});
  ASSERT_TRUE(succeeded(fitted));
  EXPECT_GT(fitted->peak, 8192);
  EXPECT_EQ(applied, 0);
  fitted = search({none, erase});
  ASSERT_TRUE(succeeded(fitted));
  EXPECT_LE(fitted->peak, 8192);
  EXPECT_EQ(applied, 1);
  EXPECT_EQ(reported, 1);
  EXPECT_EQ((*fitted->module)->getAttr(techniquesAttribute),
            Builder(&context).getStrArrayAttr({"erase"}));
  EXPECT_FALSE(module->getOps<VariableOp>().empty());
}

} // namespace
