// Tests the counted operations and bytes in --profile-summary, and its references.
#include "runtime/calls/contraction/cpu/onednn/contraction.h"
#include "runtime/calls/contraction/plain.h"
#include "runtime/devices/cpu/measure/throughput.h"
#include "runtime/reports/profile.h"
#include "runtime/reports/profile_summary.h"
#include "test/runtime/support.h"
#include "test/support/library_level.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::HasSubstr;
using testing::Not;

namespace {

Observer::Clock::time_point at(int64_t milliseconds) {
  return Observer::Clock::time_point(std::chrono::milliseconds(milliseconds));
}

TEST(Profile, TheFastestStepCounts) {
  const MtcOperation source = {};
  OperationInfo operation = {&source, 1, "", "x", 0, 0};
  Profile profile;
  auto step = [&](int64_t number, int64_t begin, int64_t load, int64_t kernel, int64_t rest) {
    profile.phase(Phase::Load, number, at(begin), at(begin + load));
    profile.operation(operation, at(begin + load), at(begin + load + kernel));
    profile.phase(Phase::MicroStep, number, at(begin + load), at(begin + load + kernel));
    profile.phase(Phase::Wait, number, at(begin), at(begin + 2 * load));
    profile.phase(Phase::Update, number, at(begin), at(begin + rest));
    profile.phase(Phase::Save, number, at(begin), at(begin + 1000));
  };
  step(1, 0, 100, 200, 300);
  step(2, 2000, 1, 2, 3);
  step(3, 4000, 10, 20, 30);
  profile.finish();
  EXPECT_EQ(profile.steps(), 3);
  EXPECT_DOUBLE_EQ(profile.meanSeconds(), 0.296);
  const Profile::Step &fastest = profile.fastest();
  EXPECT_DOUBLE_EQ(fastest.seconds, 0.008);
  EXPECT_DOUBLE_EQ(fastest.loadSeconds, 0.001);
  EXPECT_DOUBLE_EQ(fastest.waitSeconds, 0.002);
  ASSERT_EQ(fastest.operations.size(), 2u);
  EXPECT_EQ(fastest.operations[0].operation, nullptr);
  EXPECT_EQ(fastest.operations[1].operation, &operation);
  EXPECT_DOUBLE_EQ(fastest.operations[1].seconds, 0.002);
}

TEST(Profile, ValidationsAreNoSteps) {
  const MtcOperation source = {};
  OperationInfo training = {&source, 0, "", "x", 0, 0}, validation = {&source, 1, "", "y", 0, 0};
  Profile profile;
  for (int64_t step = 1; step <= 2; ++step) {
    profile.phase(Phase::Load, step, at(0), at(10));
    profile.operation(training, at(10), at(30));
    profile.phase(Phase::MicroStep, step, at(10), at(30));
    profile.phase(Phase::Update, step, at(30), at(35));
    profile.phase(Phase::LoadValidation, 1, at(40), at(41));
    profile.operation(validation, at(41), at(42));
    profile.phase(Phase::Validate, 1, at(41), at(42));
  }
  profile.finish();
  EXPECT_EQ(profile.steps(), 2);
  EXPECT_DOUBLE_EQ(profile.meanSeconds(), 0.035);
  const Profile::Step &fastest = profile.fastest();
  EXPECT_DOUBLE_EQ(fastest.loadSeconds, 0.01);
  ASSERT_EQ(fastest.operations.size(), 2U);
  EXPECT_DOUBLE_EQ(fastest.operations[0].seconds, 0.02);
  EXPECT_EQ(fastest.operations[1].operation, nullptr);
}

TEST(Profile, MicroStepsAddUp) {
  const MtcOperation source = {};
  OperationInfo operation = {&source, 0, "", "x", 0, 0};
  Profile profile;
  for (int64_t step = 1; step <= 2; ++step) {
    for (int64_t begin : {0, 100}) {
      profile.phase(Phase::Load, step, at(begin), at(begin + 10));
      profile.operation(operation, at(begin + 10), at(begin + 30));
      profile.phase(Phase::MicroStep, step, at(begin + 10), at(begin + 30));
    }
    profile.phase(Phase::Update, step, at(200), at(205));
  }
  profile.finish();
  EXPECT_EQ(profile.steps(), 2);
  const Profile::Step &fastest = profile.fastest();
  EXPECT_DOUBLE_EQ(fastest.seconds, 0.065);
  EXPECT_DOUBLE_EQ(fastest.loadSeconds, 0.02);
  ASSERT_EQ(fastest.operations.size(), 1U);
  EXPECT_DOUBLE_EQ(fastest.operations[0].seconds, 0.04);
  EXPECT_EQ(fastest.operations[0].runs, 2);
}

TEST(Profile, PlainContractionHasTheSameWork) {
  // lhs is [5, m, k] and transposed, and rhs is equal for all entries of the batch.
  MtcContraction contraction = {MTC_F32,
                                MTC_F32,
                                MTC_F32,
                                {MTC_F32, MTC_F32},
                                MTC_F32,
                                0,
                                2,
                                {5, 3},
                                7,
                                11,
                                13,
                                {1000, 91, 1, 7},
                                {0, 0, 11, 1},
                                {231, 77, 11, 1},
                                1,
                                0,
                                {},
                                0,
                                0,
                                0,
                                0,
                                0,
                                0};
  MtcContraction plain = plainContraction(contraction);
  EXPECT_EQ(contractionFlops(plain), 2 * 5 * 3 * 7 * 11 * 13);
  EXPECT_EQ(contractionFlops(contraction), contractionFlops(plain));
  EXPECT_EQ(plain.accumulate, 0u);
  EXPECT_EQ(createContraction(plain, 1)->supportLevel(), mtc::test::bestLevelOfProducts());
  EXPECT_GT(plainContractionThroughput(plain, 2).value(), 0);
}

class Summary : public testing::Test {
protected:
  TemporaryFolder folder;

  void SetUp() override { writeSampleData(folder, 10); }

  nlohmann::json summary(const std::vector<std::string> &more, std::string *table = nullptr) {
    std::vector<std::string> flags = more;
    flags.push_back("--profile-summary=" + (folder / "summary.json"));
    RunResult result = runHere(mtc_program, withData(folder, flags));
    EXPECT_EQ(result.status, 0) << result.error;
    if (table)
      *table = result.output;
    return nlohmann::json::parse(readFile(folder / "summary.json"));
  }
};

TEST_F(Summary, HasARowForEachKindOfCall) {
  std::string table;
  auto summary = this->summary({"--steps", "5"}, &table);
  EXPECT_EQ(summary["steps"], 5);
  EXPECT_LE(summary["step_seconds"], summary["mean_step_seconds"]);
  EXPECT_GT(summary["machine"]["copy_bytes_per_second"].get<double>(), 0);
  EXPECT_GT(summary["machine"]["contraction_flops_per_second"]["f32"].get<double>(), 0);
  double shares = 0;
  std::map<std::string, nlohmann::json> rows;
  for (const auto &row : summary["rows"]) {
    shares += row["share"].get<double>();
    rows[row["kind"] == "contraction" ? row["shape"] : row["name"]] = row;
  }
  EXPECT_EQ(rows.size(), mtc_program.kernel_count + mtc_program.call_count);
  const auto &gemm = rows.at("4 x 1 x 3");
  EXPECT_EQ(gemm["nodes"], nlohmann::json({"/fc/Gemm"}));
  EXPECT_EQ(gemm["flops"], 2 * 4 * 1 * 3);
  EXPECT_EQ(gemm["bytes"], 4 * (4 * 3 + 3 * 1 + 4 * 1));
  EXPECT_GT(gemm["share_of_alone"].get<double>(), 0);
  EXPECT_EQ(rows.at("update_weight")["bytes"], 36);
  EXPECT_FALSE(rows.at("update_weight").contains("share_of_alone"));

  const auto &totals = summary["totals"];
  double all =
      shares + totals["load"]["share"].get<double>() + totals["between"]["share"].get<double>();
  EXPECT_NEAR(all, 1, 1e-6);
  EXPECT_EQ(totals["large_kernels"]["seconds"], 0);
  EXPECT_TRUE(totals["large_kernels"]["share_of_copy"].is_null());
  for (const char *part : {"Fastest of 5 steps:", "4 x 1 x 3  /fc/Gemm",
                           "update_weight  update fc.weight", "between kernels"})
    EXPECT_THAT(table, HasSubstr(part));
}

TEST_F(Summary, OfForwardRuns) {
  auto summary = this->summary({"--evaluate"});
  EXPECT_EQ(summary["steps"], 3);
  for (const auto &row : summary["rows"])
    EXPECT_THAT(row["name"].get<std::string>(), Not(HasSubstr("update")));
  EXPECT_EQ(this->summary({"--gradients", folder / "g.safetensors"})["steps"], 1);
}

TEST_F(Summary, IsPrintedOrWrittenOrBoth) {
  RunResult result = runHere(mtc_program, withData(folder, {"--steps", "2", "--profile-summary"}));
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("GB/s of copying"));
  std::string table = "unset";
  summary({"--steps", "2", "--quiet"}, &table);
  EXPECT_EQ(table, "");
  result = runHere(mtc_program, withData(folder, {"--quiet", "--profile-summary"}));
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("--profile-summary=FILE"));
  result = runHere(mtc_program,
                   withData(folder, {"--profile-summary=" + (folder / "none/summary.json")}));
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("--profile-summary " + (folder / "none/summary.json")));
}

TEST_F(Summary, LeavesTheNumbersAsTheyAre) {
  ASSERT_EQ(
      runHere(mtc_program, withData(folder, {"--steps", "6", "--metrics", folder / "plain.jsonl"}))
          .status,
      0);
  summary({"--steps", "6", "--metrics", folder / "m.jsonl"});
  EXPECT_EQ(readLosses(folder / "m.jsonl"), readLosses(folder / "plain.jsonl"));
}

TEST(SummaryTable, SaysWhatWasNotMeasured) {
  auto none = nlohmann::ordered_json();
  nlohmann::ordered_json part = {{"seconds", 0.25}, {"share", 0.5}, {"share_of_copy", none}};
  nlohmann::ordered_json row = {{"kind", "kernel"},
                                {"name", "kernel_3"},
                                {"nodes", {std::string(200, 'n'), "other", "other"}},
                                {"calls", 3},
                                {"seconds", 0.25},
                                {"share", 0.5},
                                {"bytes", 3e6},
                                {"flops", 0},
                                {"bytes_per_second", 12e6},
                                {"flops_per_second", 0},
                                {"share_of_copy", none}};
  nlohmann::ordered_json summary = {
      {"steps", 1},
      {"mean_step_seconds", 0.75},
      {"step_seconds", 0.5},
      {"threads", 1},
      {"machine",
       {{"copy_bytes_per_second", none}, {"contraction_flops_per_second", {{"f32", none}}}}},
      {"rows", {row}},
      {"totals",
       {{"contractions", {{"seconds", 0.25}, {"share", 0.5}, {"share_of_alone", none}}},
        {"other_calls", part},
        {"kernels", part},
        {"large_kernels", part},
        {"copies", part},
        {"load", part},
        {"between", part}}}};
  std::string table = summaryTable(summary);
  EXPECT_THAT(table, HasSubstr("Fastest of 1 steps: 500.000 ms (mean 750.000), 1 threads. This "
                               "machine: - GB/s of copying."));
  EXPECT_THAT(table, HasSubstr("  250.000  50.0     3     1.000     0.0     -"));
  EXPECT_THAT(table, HasSubstr("kernel_3  " + std::string(64, 'n') + "... (and 1 like it)\n"));
  EXPECT_THAT(table, HasSubstr("  250.000  50.0%  kernels\n"));
}

} // namespace
