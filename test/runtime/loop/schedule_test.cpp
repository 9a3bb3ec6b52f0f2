// Tests the learning rates of every schedule.
#include "runtime/loop/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace {

/// Returns the rates of steps 1, 2, … of a schedule that ends after the last of them.
std::vector<double> ratesOf(const MtcSchedule &schedule, int64_t steps) {
  std::vector<double> rates;
  for (int64_t step = 1; step <= steps; ++step)
    rates.push_back(mtc::runtime::learningRate(schedule, step, steps));
  return rates;
}

void expectRates(const MtcSchedule &schedule, const std::vector<double> &wanted, double tolerance) {
  EXPECT_THAT(ratesOf(schedule, static_cast<int64_t>(wanted.size())),
              testing::Pointwise(testing::DoubleNear(tolerance), wanted));
}

// Recorded from PyTorch 2.15 and Transformers: the optimizer's learning rate in each step.

TEST(Schedule, ConstantIsHuggingFaces) {
  // get_constant_schedule_with_warmup(optimizer, 4)
  const MtcSchedule schedule = {"constant", 1, 0, 4, 0, 0, nullptr, nullptr};
  expectRates(schedule, {0., 0.25, 0.5, 0.75, 1., 1.}, 1e-15);
}

TEST(Schedule, LinearIsHuggingFaces) {
  // get_linear_schedule_with_warmup(optimizer, 0, 8) and (optimizer, 4, 12)
  MtcSchedule schedule = {"linear", 1, 0, 0, 0, 0, nullptr, nullptr};
  expectRates(schedule, {1., 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125}, 1e-15);
  schedule.warmup = 4;
  expectRates(schedule, {0., 0.25, 0.5, 0.75, 1., 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125},
              1e-15);
  // torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0.2, 5)
  const MtcSchedule minRate = {"linear", 1, 0.2, 0, 0, 0, nullptr, nullptr};
  expectRates(minRate, {1., 0.84, 0.68, 0.52, 0.36}, 1e-15);
}

TEST(Schedule, CosineIsHuggingFaces) {
  // get_cosine_schedule_with_warmup(optimizer, 4, 12)
  const MtcSchedule schedule = {"cosine", 1, 0, 4, 0, 0, nullptr, nullptr};
  expectRates(schedule,
              {0., 0.25, 0.5, 0.75, 1., 0.9619397662556434, 0.8535533905932737, 0.6913417161825449,
               0.5, 0.30865828381745514, 0.14644660940672627, 0.03806023374435663},
              1e-15);
  // get_cosine_with_min_lr_schedule_with_warmup(optimizer, 2, 8, min_lr_rate=0.2)
  MtcSchedule minRate = {"cosine", 1, 0.2, 2, 0, 0, nullptr, nullptr};
  expectRates(minRate, {0., 0.5, 1., 0.9464101615137757, 0.8, 0.6, 0.4, 0.2535898384862246}, 1e-15);
  // torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6, 0.2)
  minRate.warmup = 0;
  expectRates(minRate, {1., 0.9464101615137757, 0.8, 0.6, 0.4, 0.2535898384862246}, 1e-15);
}

TEST(Schedule, InverseRootIsHuggingFaces) {
  // get_inverse_sqrt_schedule(optimizer, 4)
  MtcSchedule schedule = {"inverse-sqrt", 1, 0, 4, 0, 0, nullptr, nullptr};
  expectRates(schedule,
              {0., 0.25, 0.5, 0.75, 1., 0.8944271909999159, 0.8164965809277261, 0.7559289460184544,
               0.7071067811865475},
              1e-15);
  schedule.min_rate = 0.45;
  EXPECT_DOUBLE_EQ(ratesOf(schedule, 26)[16], 0.5);
  EXPECT_DOUBLE_EQ(ratesOf(schedule, 26)[25], 0.45); // not 0.4
  // get_inverse_sqrt_schedule(optimizer, 0)
  schedule.warmup = 0;
  expectRates(schedule, {1., 0.9999500037496877, 0.9999000149975006}, 1e-15);
}

TEST(Schedule, WarmUpStableDecayIsHuggingFaces) {
  // get_wsd_schedule(optimizer, 2, 4, num_training_steps=10, decay_type="linear"), then with
  // min_lr_ratio=0.2
  MtcSchedule schedule = {"wsd", 1, 0, 2, 4, 0, nullptr, nullptr};
  expectRates(schedule, {0., 0.5, 1., 1., 1., 1., 1., 0.75, 0.5, 0.25}, 1e-15);
  schedule.min_rate = 0.2;
  expectRates(schedule, {0.2, 0.6, 1., 1., 1., 1., 1., 0.8, 0.6, 0.4}, 1e-15);
  const MtcSchedule open = {"wsd", 1, 0, 0, 0, 0, nullptr, nullptr};
  std::vector<double> rates = ratesOf(open, 20); // The last tenth.
  EXPECT_DOUBLE_EQ(rates[18], 1);
  EXPECT_DOUBLE_EQ(rates[19], 0.5);
}

TEST(Schedule, OneCycleIsPyTorchs) {
  // torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1, total_steps=10)
  const MtcSchedule schedule = {"one-cycle", 1, 1.0 / 25e4, 0, 0, 0, nullptr, nullptr};
  expectRates(schedule,
              {0.04, 0.52, 1.0, 0.9504846320134737, 0.8117456539497631, 0.6112620219362893,
               0.38874197806371075, 0.18825834605023697, 0.049519367986526286, 4e-06},
              1e-12);
  // The same schedule with a total_steps of 3, 2 and 1.
  expectRates(schedule, {0.9944154354509117, 0.46263710266697505, 4e-06}, 1e-12);
  expectRates(schedule, {0.811745653949763, 4e-06}, 1e-12);
  expectRates(schedule, {4e-06}, 1e-12);
  // pct_start=0.5, final_div_factor=0.08
  const MtcSchedule warm = {"one-cycle", 1, 0.5, 5, 0, 0, nullptr, nullptr};
  expectRates(warm,
              {0.04, 0.1805887450304573, 0.52, 0.8594112549695427, 1., 0.9522542485937369,
               0.8272542485937369, 0.6727457514062631, 0.5477457514062631, 0.5},
              1e-12);
}

TEST(Schedule, TableHasLinesBetweenItsPoints) {
  const int64_t steps[] = {2, 4, 5};
  const double rates[] = {1, 0.5, 2};
  const MtcSchedule schedule = {"table", 2, 0, 0, 0, 3, steps, rates};
  expectRates(schedule, {1., 1., 0.75, 0.5, 2., 2.}, 1e-15);
}

} // namespace
