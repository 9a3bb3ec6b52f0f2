// The rates of every schedule.
#include "runtime/loop/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

/// The rates of steps 1, 2, … of a schedule that ends at the last of them.
std::vector<double> ratesOf(const MtcSchedule &schedule, int64_t steps) {
  MtcProgram program = {};
  program.schedule = schedule;
  std::vector<double> rates;
  for (int64_t step = 1; step <= steps; ++step)
    rates.push_back(mtc::runtime::learningRate(program, step, steps));
  return rates;
}

void expectRates(const MtcSchedule &schedule, const std::vector<double> &wanted, double tolerance) {
  EXPECT_THAT(ratesOf(schedule, static_cast<int64_t>(wanted.size())),
              testing::Pointwise(testing::DoubleNear(tolerance), wanted));
}

TEST(Schedule, WarmUpThenFall) {
  MtcSchedule schedule = {"constant", 1, 0, 4, 0, 0, nullptr, nullptr};
  std::vector<double> rates = ratesOf(schedule, 12);
  EXPECT_DOUBLE_EQ(rates[0], 0.25);
  EXPECT_DOUBLE_EQ(rates[3], 1);
  EXPECT_DOUBLE_EQ(rates[11], 1);
  schedule.kind = "linear";
  rates = ratesOf(schedule, 12);
  EXPECT_DOUBLE_EQ(rates[7], 0.5);
  EXPECT_DOUBLE_EQ(rates[11], 0);
  schedule.kind = "cosine";
  rates = ratesOf(schedule, 12);
  EXPECT_NEAR(rates[5], 0.5 * (1 + std::cos(M_PI / 4)), 1e-15);
  EXPECT_NEAR(rates[11], 0, 1e-15);
}

TEST(Schedule, FallsToTheLeastRate) {
  const MtcSchedule linear = {"linear", 1, 0.2, 0, 0, 0, nullptr, nullptr};
  expectRates(linear, {0.8, 0.6, 0.4, 0.2}, 1e-15);
  const MtcSchedule cosine = {"cosine", 1, 0.2, 0, 0, 0, nullptr, nullptr};
  EXPECT_NEAR(ratesOf(cosine, 4)[1], 0.6, 1e-15);
  EXPECT_NEAR(ratesOf(cosine, 4)[3], 0.2, 1e-15);
}

TEST(Schedule, InverseRootOfTheStep) {
  MtcSchedule schedule = {"inverse-sqrt", 1, 0.45, 4, 0, 0, nullptr, nullptr};
  std::vector<double> rates = ratesOf(schedule, 25);
  EXPECT_DOUBLE_EQ(rates[0], 0.25);
  EXPECT_DOUBLE_EQ(rates[3], 1);
  EXPECT_DOUBLE_EQ(rates[15], 0.5);
  EXPECT_DOUBLE_EQ(rates[24], 0.45); // not 0.4
  schedule.warmup = 0;
  EXPECT_DOUBLE_EQ(ratesOf(schedule, 1)[0], std::sqrt(1e4 / 10001));
}

TEST(Schedule, WarmUpStableDecay) {
  const MtcSchedule schedule = {"wsd", 1, 0, 2, 4, 0, nullptr, nullptr};
  expectRates(schedule, {0.5, 1., 1., 1., 1., 1., 0.75, 0.5, 0.25, 0.}, 1e-15);
  const MtcSchedule open = {"wsd", 1, 0, 0, 0, 0, nullptr, nullptr};
  std::vector<double> rates = ratesOf(open, 20); // The last tenth.
  EXPECT_DOUBLE_EQ(rates[17], 1);
  EXPECT_DOUBLE_EQ(rates[18], 0.5);
  EXPECT_DOUBLE_EQ(rates[19], 0);
}

TEST(Schedule, OneCycleIsPyTorchs) {
  // torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1, total_steps=10), PyTorch 2.15
  const MtcSchedule schedule = {"one-cycle", 1, 1.0 / 25e4, 0, 0, 0, nullptr, nullptr};
  expectRates(schedule,
              {0.04, 0.52, 1.0, 0.9504846320134737, 0.8117456539497631, 0.6112620219362893,
               0.38874197806371075, 0.18825834605023697, 0.049519367986526286, 4e-06},
              1e-12);
  const MtcSchedule warm = {"one-cycle", 1, 0.5, 5, 0, 0, nullptr, nullptr};
  EXPECT_DOUBLE_EQ(ratesOf(warm, 10)[4], 1);
  EXPECT_DOUBLE_EQ(ratesOf(warm, 10)[9], 0.5);
}

TEST(Schedule, TableHasLinesBetweenItsPoints) {
  const int64_t steps[] = {2, 4, 5};
  const double rates[] = {1, 0.5, 2};
  const MtcSchedule schedule = {"table", 2, 0, 0, 0, 3, steps, rates};
  expectRates(schedule, {1., 1., 0.75, 0.5, 2., 2.}, 1e-15);
}

} // namespace
