// A listener that fails is not called again; the others are.
#include "runtime/reports/run_listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mtc::runtime;

namespace {

class Recorder final : public RunListener {
public:
  explicit Recorder(int64_t failsAt = -1) : failsAt(failsAt) {}
  void begin(const RunFacts &) override { calls += 'b'; }
  void step(const StepMetrics &metrics) override {
    calls += 's';
    if (metrics.step == failsAt)
      systemError("the disk is full");
  }
  void validation(const ValidationMetrics &) override { calls += 'v'; }
  void end(const RunEnding &) override { calls += 'e'; }

  std::string calls;

private:
  int64_t failsAt;
};

TEST(RunListeners, ContinueAfterTheFailureOfOne) {
  Recorder failing(2), working;
  RunListeners listeners;
  listeners.add(failing);
  listeners.add(working);
  Problems problems;
  listeners.begin({}, problems);
  listeners.step({.step = 1, .loss = 1, .learningRate = 1}, problems);
  EXPECT_FALSE(problems.any());
  listeners.step({.step = 2, .loss = 1, .learningRate = 1}, problems);
  EXPECT_EQ(problems.message(), "the disk is full");
  listeners.validation({}, problems);
  listeners.end({}, problems);
  EXPECT_EQ(failing.calls, "bss");
  EXPECT_EQ(working.calls, "bssve");
}

TEST(RunFacts, EpochsAndThroughput) {
  RunFacts facts{.samplesPerStep = 32, .samplesPerEpoch = 100};
  EXPECT_EQ(facts.epochOf(1), 1);
  EXPECT_EQ(facts.epochOf(4), 1); // Samples 96 to 127: the first ones are of the first epoch.
  EXPECT_EQ(facts.epochOf(5), 2);
  EXPECT_EQ(RunFacts().epochOf(5), 0);
  StepMetrics step{.step = 1, .loss = 0, .learningRate = 0, .seconds = 0.5};
  EXPECT_EQ(facts.samplesPerSecond(step), 64);
  EXPECT_EQ(facts.tokensPerSecond(step), std::nullopt);
  facts.tokensPerSample = 10;
  EXPECT_EQ(facts.tokensPerSecond(step), 640);
  step.seconds = 0;
  EXPECT_EQ(facts.samplesPerSecond(step), std::nullopt);
}

} // namespace
