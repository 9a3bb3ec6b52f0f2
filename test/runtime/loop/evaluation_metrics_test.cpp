#include "runtime/loop/evaluation_metrics.h"

#include "runtime/abi/row_values.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

using namespace mtc::runtime;
namespace rows = mtc::abi;

namespace {

double valueOf(const MetricSums &sums, std::string_view name) {
  for (const MetricKind &metric : allMetrics())
    if (metric.name == name)
      return metric.value(sums);
  ADD_FAILURE() << "no metric " << name;
  return 0;
}

/// A program with these values per sample, in addition to the loss.
struct Fixture {
  explicit Fixture(std::initializer_list<const char *> names) {
    for (const char *name : {rows::rowLoss, rows::rowWeight})
      values.push_back({name, MTC_ROW_SUM, 0, 1});
    for (const char *name : names)
      values.push_back({name, MTC_ROW_SUM, 0, 1});
    program.row_metrics = {4, static_cast<uint32_t>(values.size()), values.data()};
  }
  std::vector<MtcRowValue> values;
  MtcProgram program{};
};

} // namespace

TEST(EvaluationMetrics, AreThoseWhoseValuesAProgramHas) {
  EXPECT_EQ(metricNames(Fixture({}).program), "loss");
  EXPECT_EQ(metricNames(Fixture({rows::rowCorrect, rows::rowTop5}).program),
            "loss, accuracy, top5_accuracy");
  EXPECT_EQ(metricNames(Fixture({rows::rowPredictedClass, rows::rowLabelClass}).program),
            "loss, macro_precision, macro_recall, macro_f1");
  EXPECT_EQ(metricNames(Fixture({rows::rowPredictedClass}).program), "loss");
  MtcProgram bare{};
  EXPECT_EQ(metricNames(bare), "loss");
  EXPECT_EQ(findMetric(bare, "accuracy"), nullptr);
  Fixture errors({rows::rowAbsoluteError});
  ASSERT_NE(findMetric(errors.program, "mae"), nullptr);
  EXPECT_FALSE(findMetric(errors.program, "mae")->isHigherBetter);
}

TEST(EvaluationMetrics, CountTargetsApartFromWeights) {
  MetricSums sums;
  sums.total(rows::rowLoss).add(3);
  sums.total(rows::rowWeight).add(0.5);
  sums.total(rows::rowCorrect).add(2);
  EXPECT_EQ(valueOf(sums, "loss"), 6);
  EXPECT_EQ(valueOf(sums, "accuracy"), 4);
  sums.total(rows::rowTargets).add(8);
  EXPECT_EQ(valueOf(sums, "accuracy"), 0.25);
}

TEST(EvaluationMetrics, MacroAveragesAreOverTheClassesThatOccur) {
  MetricSums sums;
  // The labels are 0, 1 and 4 of several classes, and class 3 does not occur.
  for (auto [predicted, labelled] : {std::pair{0, 0}, {0, 0}, {1, 0}, {4, 4}, {0, 1}, {-1, -1}})
    sums.addTarget(predicted, labelled);
  EXPECT_DOUBLE_EQ(valueOf(sums, "macro_precision"), (2.0 / 3 + 0 + 1) / 3);
  EXPECT_DOUBLE_EQ(valueOf(sums, "macro_recall"), (2.0 / 3 + 0 + 1) / 3);
  EXPECT_DOUBLE_EQ(valueOf(sums, "macro_f1"), (2.0 / 3 + 0 + 1) / 3);
}

TEST(EvaluationMetrics, ScoresWithoutPositivesAreZero) {
  MetricSums sums;
  for (const char *name : {"precision", "recall", "f1", "micro_f1"})
    EXPECT_EQ(valueOf(sums, name), 0) << name;
  sums.total(rows::rowPositives.hits).add(3);
  sums.total(rows::rowPositives.predicted).add(4);
  sums.total(rows::rowPositives.labelled).add(6);
  EXPECT_DOUBLE_EQ(valueOf(sums, "precision"), 0.75);
  EXPECT_DOUBLE_EQ(valueOf(sums, "recall"), 0.5);
  EXPECT_DOUBLE_EQ(valueOf(sums, "f1"), 0.6);
}

TEST(EvaluationMetrics, ExplainedVarianceIsExactFarFromZero) {
  MetricSums sums;
  const double labels[3][2] = {{1e4, 1e4 + 1}, {1e4 + 2, 1e4 + 5}, {1e4 - 1, 1e4 - 3}};
  double mean = 0, deviation = 0;
  for (const auto &row : labels)
    mean += (row[0] + row[1]) / 6;
  for (const auto &row : labels) {
    const double own = (row[0] + row[1]) / 2;
    sums.total(rows::rowLabelMean).add(own);
    sums.total(rows::rowLabelDeviation)
        .add((row[0] - own) * (row[0] - own) + (row[1] - own) * (row[1] - own));
    sums.total(rows::rowWeight).add(2);
    sums.total(rows::rowSquaredError).add(1);
    for (double each : row)
      deviation += (each - mean) * (each - mean);
  }
  EXPECT_NEAR(valueOf(sums, "r2"), 1 - 3 / deviation, 1e-6);
}

TEST(EvaluationMetrics, PerplexityIsOfTheMeanLogLikelihood) {
  MetricSums sums;
  sums.total(rows::rowLogLikelihood).add(std::log(8));
  sums.total(rows::rowWeight).add(3);
  EXPECT_DOUBLE_EQ(valueOf(sums, "perplexity"), 2);
}
