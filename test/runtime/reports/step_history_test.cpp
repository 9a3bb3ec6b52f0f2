// Tests that millions of steps are kept in bounded memory, with all extremes.
#include "runtime/reports/run_record.h"
#include "runtime/reports/step_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mtc::runtime;

namespace {

StepMetrics stepOf(int64_t step, double loss) {
  return {.step = step, .loss = loss, .learningRate = 0.1, .seconds = 1e-3};
}

TEST(StepHistory, OfAMillionStepsKeepsMeansAndExtremes) {
  constexpr int64_t steps = 1'000'000;
  StepHistory history;
  double sum = 0;
  for (int64_t step = 1; step <= steps; ++step) {
    const double loss = step == 123'456 ? -5 : step == 654'321 ? 50 : 1 + std::sin(double(step));
    sum += loss;
    history.add(stepOf(step, loss));
  }
  const std::vector<StepRange> &ranges = history.ranges();
  ASSERT_LE(ranges.size(), StepHistory::capacity);
  ASSERT_GT(ranges.size(), StepHistory::capacity / 2);
  StepRange all = ranges[0];
  for (size_t i = 1; i < ranges.size(); ++i) {
    EXPECT_EQ(ranges[i].first, ranges[i - 1].last + 1);
    all.add(ranges[i]);
  }
  EXPECT_EQ(all.last, steps);
  const ValueRange &loss = all.fields[StepRange::Loss];
  EXPECT_EQ(loss.count, steps);
  EXPECT_EQ(loss.minimum, -5);
  EXPECT_EQ(loss.maximum, 50);
  EXPECT_NEAR(loss.mean(), sum / steps, 1e-9);
  EXPECT_TRUE(all.fields[StepRange::GradientNorm].isEmpty());
  EXPECT_LE(history.inRanges(50).size(), 50U);
  EXPECT_LT(history.toJson().dump().size(), 300'000U);
}

TEST(StepHistory, CountsWhatIsNotFinite) {
  StepHistory history;
  history.add(stepOf(1, std::numeric_limits<double>::quiet_NaN()));
  history.add(stepOf(2, std::numeric_limits<double>::infinity()));
  history.add(stepOf(3, 2));
  EXPECT_EQ(history.ranges()[0].notFinite, 1);
  EXPECT_TRUE(history.ranges()[0].fields[StepRange::Loss].isEmpty());
  const nlohmann::ordered_json json = history.toJson();
  EXPECT_TRUE(json["loss"]["mean"][1].is_null());
  EXPECT_EQ(json["loss"]["mean"][2], 2);
}

TEST(StepHistory, IsReadUpToACheckpointAndContinued) {
  StepHistory history, read;
  for (int64_t step = 1; step <= 3000; ++step)
    history.add(stepOf(step, static_cast<double>(step)));
  const nlohmann::json json = nlohmann::json::parse(history.toJson().dump());
  ASSERT_TRUE(read.read(json, 1999));
  EXPECT_EQ(read.ranges().back().last, 1996); // Ranges have four steps.
  for (int64_t step = 2000; step <= 2003; ++step)
    read.add(stepOf(step, static_cast<double>(step)));
  EXPECT_EQ(read.ranges().back().first, 2000);
  EXPECT_EQ(read.ranges().back().fields[StepRange::Loss].mean(), 2001.5);
}

TEST(StepHistory, RefusesWhatItDidNotWrite) {
  StepHistory history;
  history.add(stepOf(1, 2));
  history.add(stepOf(2, 3));
  const nlohmann::json good = nlohmann::json::parse(history.toJson().dump());
  ASSERT_TRUE(StepHistory().read(good, 9));
  nlohmann::json bad = good;
  bad["last"] = {1, 1};
  EXPECT_FALSE(StepHistory().read(bad, 9));
  bad = good;
  bad["loss"]["mean"] = {1};
  EXPECT_FALSE(StepHistory().read(bad, 9));
  bad = good;
  bad["first"] = "text";
  EXPECT_FALSE(StepHistory().read(bad, 9));
  bad = good;
  bad.erase("skipped");
  EXPECT_FALSE(StepHistory().read(bad, 9));
  EXPECT_FALSE(StepHistory().read(nlohmann::json(3), 9));
}

TEST(RunRecord, IsContinuedByARunOfTheSameProgram) {
  RunRecord first{.fingerprint = "f"};
  first.executions.push_back({1, 2, 0, 30});
  for (int64_t step = 1; step <= 30; ++step)
    first.steps.add(stepOf(step, 1));
  first.addValidation({.step = 10, .loss = 0.5, .metrics = {{"accuracy", 0.9}}, .isBest = true});
  first.addValidation({.step = 25, .loss = 0.4, .metrics = {{"accuracy", 0.8}}});
  const nlohmann::json json = nlohmann::json::parse(first.toJson().dump());
  RunRecord second{.fingerprint = "f"};
  second.facts.firstStep = 20;
  ASSERT_TRUE(second.continueFrom(json));
  EXPECT_EQ(second.steps.ranges().size(), 20U);
  EXPECT_EQ(second.executions[0].lastStep, 20);
  ASSERT_EQ(second.validations.size(), 1U);
  EXPECT_EQ(second.validations[0].metrics[0].second, 0.9);
  RunRecord other{.fingerprint = "g"};
  other.facts.firstStep = 20;
  EXPECT_FALSE(other.continueFrom(json));
  EXPECT_FALSE(second.continueFrom(nlohmann::json::value_t::discarded));
  EXPECT_EQ(second.steps.ranges().size(), 20U);
}

TEST(RunRecord, KeepsTheBestOfManyValidations) {
  RunRecord record;
  for (int64_t step = 1; step <= 100'000; ++step)
    record.addValidation({.step = step, .loss = step == 777 ? 0.0 : 1.0, .isBest = step == 777});
  EXPECT_LE(record.validations.size(), RunRecord::validationCapacity);
  ASSERT_NE(record.bestValidation(), nullptr);
  EXPECT_EQ(record.bestValidation()->step, 777);
  EXPECT_EQ(record.validations.back().step, 100'000);
}

} // namespace
