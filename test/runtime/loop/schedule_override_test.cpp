// Tests flags that replace parts of the schedule: the resulting schedule, runs with it, and
// resuming.
#include "runtime/loop/schedule_override.h"
#include "runtime/support/failure.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

ScheduleSettings settings(const std::string &kind, double rate, double minRate, int64_t warmup) {
  ScheduleSettings result;
  result.kind = kind;
  result.rate = rate;
  result.minRate = minRate;
  result.warmup = warmup;
  return result;
}

ScheduleFlags withKind(const std::string &kind) {
  ScheduleFlags flags;
  flags.kind = kind;
  return flags;
}

std::string problemsOf(const ScheduleSettings &base, const ScheduleFlags &flags) {
  try {
    overrideSchedule(base, flags);
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exitCode(), exitUserInput);
    return failure.what();
  }
  return "";
}

TEST(ScheduleOverride, KeepsWhatIsNotGiven) {
  const ScheduleSettings base = settings("cosine", 0.1, 0.01, 5);
  ScheduleFlags flags;
  flags.rate = 0.2;
  EXPECT_EQ(overrideSchedule(base, flags), settings("cosine", 0.2, 0.01, 5));
  flags.warmup = 0;
  EXPECT_EQ(overrideSchedule(base, flags), settings("cosine", 0.2, 0.01, 0));
  EXPECT_EQ(overrideSchedule(base, withKind("linear")), settings("linear", 0.1, 0.01, 5));
  // A constant schedule has no minimum rate.
  EXPECT_EQ(overrideSchedule(base, withKind("constant")), settings("constant", 0.1, 0, 5));
}

TEST(ScheduleOverride, ADefaultMinimumFollowsTheRate) {
  // The minimum of one-cycle is lr / 25e4 by default, as the compiler computes it.
  const ScheduleSettings base = settings("one-cycle", 0.1, 1.0 / 25e4 * 0.1, 0);
  ScheduleFlags flags;
  flags.rate = 0.3;
  EXPECT_EQ(overrideSchedule(base, flags), settings("one-cycle", 0.3, 1.0 / 25e4 * 0.3, 0));
  EXPECT_EQ(overrideSchedule(base, withKind("linear")), settings("linear", 0.1, 0, 0));
  EXPECT_EQ(overrideSchedule(settings("linear", 0.1, 0, 0), withKind("one-cycle")),
            settings("one-cycle", 0.1, 1.0 / 25e4 * 0.1, 0));
}

TEST(ScheduleOverride, OfTables) {
  ScheduleFlags flags = withKind("table");
  flags.table = "1:0.5,10:0.25";
  flags.points = readScheduleTable(flags.table);
  const ScheduleSettings table = overrideSchedule(settings("constant", 0.1, 0, 0), flags);
  EXPECT_EQ(table.rate, 0.5);
  EXPECT_THAT(table.points.steps, ElementsAre(1, 10));
  EXPECT_THAT(table.points.rates, ElementsAre(0.5, 0.25));
  // The points of the table apply while the schedule is a table; a later schedule has its highest
  // rate.
  EXPECT_EQ(overrideSchedule(table, withKind("table")), table);
  EXPECT_EQ(overrideSchedule(table, withKind("linear")), settings("linear", 0.5, 0, 0));
  flags = {};
  flags.rate = 0.1;
  EXPECT_THAT(problemsOf(table, flags), HasSubstr("--lr 0.1: conflicts with --schedule-table"));

  TemporaryFolder folder;
  writeFile(folder / "table.txt", "# step rate\n1 1e-5\n\n100, 3e-4\r\n");
  EXPECT_THAT(readScheduleTable(folder / "table.txt"), ElementsAre("1:1e-5", "100:3e-4"));
}

TEST(ScheduleOverride, ChecksFlagsAsTheCompilerDoes) {
  const ScheduleSettings constant = settings("constant", 0.1, 0, 0),
                         cosine = settings("cosine", 0.1, 0.01, 0);
  ScheduleFlags flags = withKind("table");
  EXPECT_EQ(problemsOf(constant, flags), "--schedule table: requires --schedule-table");
  flags = {};
  flags.minRate = 0.01;
  flags.decay = 3;
  EXPECT_EQ(problemsOf(constant, flags),
            "--min-lr 0.01: schedule 'constant' has no final learning rate; expected linear, "
            "cosine, inverse-sqrt, wsd, one-cycle\n"
            "error: --decay-steps 3: schedule 'constant' has no decay steps; expected wsd");
  flags = {};
  flags.minRate = 0.2;
  EXPECT_EQ(problemsOf(cosine, flags),
            "--min-lr 0.2: expected a rate from 0 to --lr, which is 0.1");
  flags = {};
  flags.rate = 0.001;
  EXPECT_THAT(problemsOf(cosine, flags), HasSubstr("is lower than the minimum rate of the "
                                                   "schedule, 0.01; give --min-lr, too"));
  flags = {};
  flags.points = {"10:1", "1:1"};
  flags.table = "10:1,1:1";
  flags.kind = "table";
  EXPECT_THAT(problemsOf(constant, flags),
              HasSubstr("--schedule-table 10:1,1:1: expected points STEP:RATE with increasing"));
}

class OverriddenRuns : public testing::Test {
protected:
  TemporaryFolder folder;
  const std::string saved = folder / "c", log = folder / "m.jsonl";

  void SetUp() override { writeSampleData(folder, 10); }

  RunResult run(const std::vector<std::string> &more, const MtcProgram &program = mtc_program) {
    return runHere(program, withData(folder, more));
  }
  /// Returns the trained model's bytes.
  std::string model(const std::vector<std::string> &more, const MtcProgram &program = mtc_program) {
    std::vector<std::string> flags = {"--export", folder / "model.onnx", "--metrics",
                                      log,        "--last-batch",        "wrap"};
    flags.insert(flags.end(), more.begin(), more.end());
    RunResult result = run(flags, program);
    EXPECT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(result.error, "");
    return readFile(folder / "model.onnx");
  }
  std::vector<double> rates() {
    std::vector<double> all;
    std::istringstream lines(readFile(log));
    for (std::string line; std::getline(lines, line);)
      all.push_back(nlohmann::json::parse(line)["lr"]);
    return all;
  }
};

TEST_F(OverriddenRuns, AreThoseOfAProgramThatIsCompiledWithTheFlags) {
  MtcProgram program = mtc_program;
  program.schedule = {"linear", 0.003, 0.001, 2, 0, 0, nullptr, nullptr};
  EXPECT_EQ(model({"--steps", "8", "--lr", "0.003", "--schedule", "linear", "--min-lr", "1e-3",
                   "--warmup", "2"}),
            model({"--steps", "8"}, program));
  EXPECT_EQ(model({"--steps", "8", "--schedule", "constant", "--lr=0.01", "--warmup=0"}, program),
            model({"--steps", "8"}));
  const int64_t steps[] = {2, 4};
  const double points[] = {0.01, 0.02};
  program.schedule = {"table", 0.02, 0, 0, 0, 2, steps, points};
  const std::string table = model({"--steps", "5"}, program);
  EXPECT_EQ(model({"--steps", "5", "--schedule", "table", "--schedule-table", "2:0.01,4:0.02"}),
            table);
  EXPECT_THAT(rates(), ElementsAre(0.01, 0.01, testing::DoubleNear(0.015, 1e-15), 0.02, 0.02));
}

TEST_F(OverriddenRuns, ResumeWithTheirRates) {
  const std::vector<std::string> flags = {"--schedule", "cosine", "--lr",   "0.02",
                                          "--warmup",   "2",      "--quiet"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), flags.begin(), flags.end());
    return more;
  };
  const std::string whole = model(with({"--steps", "9"}));
  const std::vector<double> expected = rates();
  model(with({"--steps", "4", "--schedule-steps", "9", "--save", saved}));
  // The run is resumed without flags, and with the same flags.
  EXPECT_EQ(model({"--steps", "9", "--resume", saved, "--quiet"}), whole);
  EXPECT_EQ(rates(), expected);
  EXPECT_EQ(model(with({"--steps", "9", "--resume", saved})), whole);
  RunResult result = run({"--steps", "9", "--resume", saved});
  EXPECT_THAT(result.error, HasSubstr("the learning rate is that of the checkpoint's run, "
                                      "--schedule cosine --lr 0.02 --warmup 2"));
}

TEST_F(OverriddenRuns, OtherFlagsOnResumingAreReported) {
  model({"--steps", "4", "--save", saved, "--lr", "0.02"});
  RunResult result = run({"--steps", "6", "--resume", saved, "--lr", "0.005", "--save", saved});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.error,
              HasSubstr("warning: --lr 0.005: the checkpoint's run had --schedule constant --lr "
                        "0.02; the learning rate of step 5 is 0.005 and not 0.02"));
  // From this step on, the run has the new schedule.
  model({"--steps", "7", "--resume", saved, "--quiet"});
  EXPECT_EQ(rates().back(), 0.005);
  // If the schedule of the checkpoint has no end, it ends with the run.
  result = run({"--steps", "10", "--resume", saved, "--schedule", "linear", "--metrics", log});
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_THAT(result.error, HasSubstr("warning: --schedule linear: the checkpoint's run had"));
  EXPECT_GT(rates().back(), 0);
  // The compiled schedule applies if the checkpoint has no other.
  model({"--steps", "4", "--save", folder / "plain"});
  result = run({"--steps", "6", "--resume", folder / "plain", "--lr", "0.02"});
  EXPECT_THAT(result.error, HasSubstr("is 0.02 and not 0.01"));
}

TEST_F(OverriddenRuns, InvalidFlags) {
  auto refusal = [&](const std::vector<std::string> &flags) {
    RunResult result = run(flags);
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.output, "");
    return result.error;
  };
  for (const char *rate : {"x", "0x10", "inf", "nan", "1e999", ""})
    EXPECT_EQ(run({std::string("--lr=") + rate}).status, 1) << rate;
  EXPECT_THAT(refusal({"--lr", "x"}), HasSubstr("--lr x: expected a finite number, such as 0.001"));
  EXPECT_THAT(refusal({"--lr", "1e-400"}), HasSubstr("--lr 1e-400: is too close to 0"));
  EXPECT_THAT(refusal({"--lr=-1"}), HasSubstr("--lr -1: expected a number of at least 0"));
  for (const char *flag : {"--lr", "--min-lr"})
    EXPECT_THAT(refusal({flag, "1e300"}),
                HasSubstr(std::string(flag) +
                          " 1e300: expected a number of at least 0 and at most 3.4e+38"));
  EXPECT_THAT(refusal({"--schedule", "table", "--schedule-table", "1:1e300"}),
              HasSubstr("rates of at most 3.4e+38"));
  EXPECT_THAT(refusal({"--warmup", "1.5"}),
              HasSubstr("--warmup 1.5: expected a whole number, such as 8"));
  EXPECT_THAT(refusal({"--schedule", "exponential"}),
              HasSubstr("--schedule exponential: expected constant, linear, cosine"));
  EXPECT_THAT(refusal({"--schedule", "table", "--schedule-table", "a:b"}),
              HasSubstr("a:b: cannot be opened"));
  EXPECT_THAT(refusal({"--evaluate", "--lr", "1"}), HasSubstr("change no weights"));
  EXPECT_THAT(refusal({"--schedule", "table", "--metrics", folder / "x.npy"}),
              HasSubstr("requires --schedule-table"));
}

} // namespace
