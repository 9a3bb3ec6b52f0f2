//===- plan_choice_test.cpp - Plans do not depend on the number of threads --------------------===//

#include "driver/PlanChoice.h"
#include "driver/Report.h"
#include "test/driver/example_model.h"

#include <gtest/gtest.h>

#include <sched.h>

using namespace mtc;
using namespace mtc::tool;

namespace {

/// Restricts this thread, and the threads that it creates, to one core.
class OneProcessor {
public:
  OneProcessor() {
    sched_getaffinity(0, sizeof(before), &before);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
      if (CPU_ISSET(i, &before))
        CPU_SET(i, &one);
    sched_setaffinity(0, sizeof(one), &one);
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof(before), &before); }
  OneProcessor(const OneProcessor &) = delete;
  OneProcessor &operator=(const OneProcessor &) = delete;

private:
  cpu_set_t before;
};

/// Returns the text of the plan that a search selects.
std::string findPlan(Options options) {
  std::unique_ptr<Compilation> chosen = choosePlan(options);
  if (!chosen || failed(chosen->import()) || failed(chosen->lower(Stage::Allocated)))
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << chosen->getModule();
  return text;
}

// Several threads plan the next combination in parallel to the current one.
TEST(PlanChoice, OneThreadFindsTheSamePlan) {
  HeldMessages messages;
  Options options;
  options.model = mtc::test::exampleModel;
  options.plan.dims["batch"] = 32;
  options.plan.dims["sequence"] = 64;
  options.plan.training.loss.loss = "causal-lm";
  options.costModel = "avx512";
  options.threads = 2;
  options.plan.fit.tile.tile = TileMode::None;
  for (const std::vector<std::string> &allowed : std::vector<std::vector<std::string>>{
           {"accumulate", "gradient-bits"}, {"accumulate", "gradient-bits", "precision"}})
    for (int64_t budget : {6'000'000, 7'000'000, 12'000'000}) {
      options.allow = allowed;
      options.plan.fit.memory = budget;
      const std::string several = findPlan(options);
      const OneProcessor restricted;
      EXPECT_NE(several, "");
      EXPECT_EQ(findPlan(options), several) << "with " << budget << " bytes";
    }
}

} // namespace
