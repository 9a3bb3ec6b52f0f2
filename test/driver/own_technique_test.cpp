//===- own_technique_test.cpp - A technique that this test defines ----------------------------===//

#include "driver/Flags.h"
#include "driver/PlanChoice.h"
#include "driver/Report.h"

#include "passes/recompute/Recomputation.h"
#include "test/driver/example_model.h"

#include <gmock/gmock.h>

#include <atomic>

using namespace mtc;
using namespace mtc::tool;

namespace {

std::atomic<int> taken = 0;

/// A recomputation that counts how often it changes a program.
class OwnTechnique final : public mtc::PeakReducer {
public:
  OwnTechnique(const FunctionBudget &budget, OperationTimes &times) : inner(budget, times) {}

  mlir::FailureOr<std::optional<Candidate>> findCandidate(int64_t excess) override {
    return inner.findCandidate(excess);
  }
  mlir::FailureOr<bool> applyCandidate() override {
    mlir::FailureOr<bool> result = inner.applyCandidate();
    taken += succeeded(result) && *result;
    return result;
  }
  void noticeChange() override { inner.noticeChange(); }
  mlir::LogicalResult finish() override { return inner.finish(); }
  void report() const override { inner.report(); }

private:
  Recomputation inner;
};

/// Adds a technique that uses the setting of tiling.
void addOwnTechniques(std::vector<Technique> &techniques) {
  Technique technique{"own", "what only a test does", Stage::Allocated, Effect::Order,
                      Permission::Allow};
  technique.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (settings.fit.tile.tile == TileMode::None)
      changes.push_back({"--own", [](PlanSettings &all) { all.fit.tile.tile = TileMode::Auto; }});
    return changes;
  };
  technique.disable = [](PlanSettings &all) { all.fit.tile.tile = TileMode::None; };
  technique.make = [](const FunctionBudget &budget, OperationTimes &times,
                      const FitOptions &options) -> std::unique_ptr<mtc::PeakReducer> {
    if (options.tile.tile != TileMode::Auto)
      return nullptr;
    return std::make_unique<OwnTechnique>(budget, times);
  };
  techniques.push_back(technique);
}

TEST(OwnTechnique, IsInHelpSuggestionsBenefitsAndPlans) {
  const Registration registration(addOwnTechniques);
  HeldMessages messages;

  const Flag *allow = getFlags().find("allow", Command::Plan);
  ASSERT_NE(allow, nullptr);
  EXPECT_THAT(allow->text.choices,
              testing::Contains(
                  testing::AllOf(testing::Field(&OptionChoice::name, "own"),
                                 testing::Field(&OptionChoice::help, "what only a test does"))));

  Options options;
  options.model = mtc::test::exampleModel;
  options.plan.dims["batch"] = 4;
  options.plan.dims["sequence"] = 64;
  options.plan.training.loss.loss = "causal-lm";
  options.costModel = "avx512";
  options.plan.fit.recompute.recompute = RecomputeMode::None;
  options.plan.fit.tile.tile = TileMode::None;
  auto peakOf = [](Compilation &compilation) {
    EXPECT_TRUE(succeeded(compilation.import()));
    EXPECT_TRUE(succeeded(compilation.lower(Stage::Allocated)));
    return MemoryPlan::ofAllocated(compilation.getModule()).peak;
  };
  Compilation plain(options);
  const int64_t peak = peakOf(plain);
  options.plan.fit.memory = peak - peak / 8;

  const Suggestions suggestions = CompilationQueries(options, plain)
                                      .findSuggestions(MemoryPlan::ofAllocated(plain.getModule()));
  EXPECT_FALSE(suggestions.isHopeless);
  EXPECT_THAT(suggestions.known,
              testing::Contains(testing::AllOf(
                  testing::Field(&Suggestion::flags, "--own"),
                  testing::Field(&Suggestion::effect, Effect::Order),
                  testing::Field(&Suggestion::peak, testing::Le(*options.plan.fit.memory)))));

  options.allow = {"own"};
  taken = 0;
  std::unique_ptr<Compilation> chosen = choosePlan(options);
  ASSERT_NE(chosen, nullptr);
  EXPECT_EQ(options.plan.fit.tile.tile, TileMode::Auto);
  EXPECT_LE(peakOf(*chosen), *options.plan.fit.memory);
  EXPECT_GT(taken, 0);

  EXPECT_THAT(
      CompilationQueries(options, *chosen).measureBenefits(),
      testing::Contains(testing::AllOf(testing::Field(&Benefit::name, "own"),
                                       testing::Field(&Benefit::savesBytes, testing::Gt(0)))));
}

} // namespace
