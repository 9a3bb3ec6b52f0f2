#include "runtime/loop/evaluation_metrics.h"

#include "runtime/abi/row_values.h"
#include "runtime/loop/sequence_errors.h"

#include <algorithm>
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

TEST(EvaluationMetrics, CalibrationIsTheDifferenceOfConfidenceAndAccuracy) {
  MetricSums sums;
  // Of the interval (0.6, 0.667], one of two is correct; of the last one, all are.
  for (const auto &[confidence, isCorrect] :
       {std::pair{0.625, true}, {0.65625, false}, {1.0, true}})
    sums.calibration.add(confidence, isCorrect);
  EXPECT_DOUBLE_EQ(valueOf(sums, "ece"), std::abs(1 - 0.625 - 0.65625) / 3);
}

TEST(EvaluationMetrics, RankingCountsTiesByHalf) {
  MetricSums sums;
  sums.ranking.setClasses(2);
  for (const auto &[score, isPositive] :
       {std::pair{3.0F, true}, {2.0F, false}, {1.0F, true}, {1.0F, false}})
    sums.ranking.add(0, score, isPositive);
  sums.ranking.add(1, 5, true); // a class without negative targets
  // roc_auc_score and average_precision_score of scikit-learn.
  EXPECT_DOUBLE_EQ(valueOf(sums, "auc"), 0.625);
  EXPECT_DOUBLE_EQ(valueOf(sums, "average_precision"), 0.75);
  sums.ranking.add(0, std::nanf(""), true);
  EXPECT_TRUE(std::isnan(valueOf(sums, "auc")));
}

TEST(EvaluationMetrics, RankingsOfManyScoresUseBoundedMemory) {
  // More distinct scores than are kept: in two orders, and in three rankings that are added.
  MetricSums all, backward, parts;
  constexpr int count = 300000;
  auto scoreOf = [](int i) { return std::sin(static_cast<float>(i)) * 3; };
  auto isPositive = [](int i) { return i % 7 < (std::sin(static_cast<float>(i)) > 0 ? 5 : 3); };
  auto add = [&](MetricSums &sums, int i) { sums.ranking.add(0, scoreOf(i), isPositive(i)); };
  for (MetricSums *sums : {&all, &backward})
    sums->ranking.setClasses(1);
  std::vector<std::pair<float, bool>> targets;
  for (int i = 0; i < count; ++i) {
    add(all, i);
    add(backward, count - 1 - i);
    targets.emplace_back(scoreOf(i), isPositive(i));
  }
  for (int part = 0; part < 3; ++part) {
    MetricSums sums;
    sums.ranking.setClasses(1);
    for (int i = part; i < count; i += 3)
      add(sums, i);
    parts.addTargetList(sums.targetList());
  }
  EXPECT_LE(all.targetList().size(), 3U * (1 << 16) + 64);
  EXPECT_EQ(all.targetList(), backward.targetList());
  EXPECT_EQ(all.targetList(), parts.targetList());
  // The area without regard to the few equal scores.
  std::sort(targets.begin(), targets.end());
  double negatives = 0, positives = 0, pairs = 0;
  for (const auto &[score, positive] : targets) {
    pairs += positive ? negatives : 0;
    (positive ? positives : negatives) += 1;
  }
  EXPECT_NEAR(valueOf(all, "auc"), pairs / positives / negatives, 1e-4);
}

TEST(EvaluationMetrics, ListsOfTargetsAreReadBack) {
  MetricSums one, other, all;
  for (MetricSums *sums : {&one, &other, &all})
    sums->ranking.setClasses(3);
  for (MetricSums *sums : {&one, &all}) {
    sums->addTarget(3, 1);
    sums->ranking.add(2, -0.5F, true);
    sums->calibration.add(0.5, true);
  }
  for (MetricSums *sums : {&other, &all}) {
    sums->addTarget(0, 0);
    sums->ranking.add(2, -1.5F, false);
  }
  std::vector<int64_t> list = other.targetList();
  list.resize(list.size() + 5); // the space of longer lists
  one.addTargetList(list);
  EXPECT_EQ(one.targetList(), all.targetList());
  EXPECT_EQ(one.confusion.at(1, 3), 1);
  EXPECT_EQ(one.confusion.classes(), 4);
  // A class above the maximum empties the matrix, on every rank.
  other.addTarget(5000, 0);
  one.addTargetList(other.targetList());
  EXPECT_EQ(one.confusion.classes(), 0);
}

TEST(SequenceErrors, AreEditDistancesOfTheBestPath) {
  EXPECT_EQ(decodeFrames(std::vector<int32_t>{-1, 2, 2, -1, 2, 3, 3, -1}),
            (std::vector<int32_t>{2, 2, 3}));
  EXPECT_EQ(editDistance(std::vector<int32_t>{1, 2, 3}, std::vector<int32_t>{2, 3, 4, 4}), 3);
  EXPECT_EQ(editDistance(std::vector<int32_t>{}, std::vector<int32_t>{1, 1}), 2);
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
