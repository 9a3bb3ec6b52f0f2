// Tests the command line: errors that are reported together, suggestions, and help.
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace mtc::test;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string refusal(const std::vector<std::string> &arguments) {
  RunResult result = runHere(mtc_program, arguments);
  EXPECT_EQ(result.status, 1) << result.error;
  EXPECT_EQ(result.output, "");
  return result.error;
}

TEST(Options, HelpListsWhatTheProgramTakes) {
  for (const char *flag : {"--help", "-h"}) {
    RunResult result = runHere(mtc_program, {flag});
    EXPECT_EQ(result.status, 0);
    for (const char *part : {"x  f32 [rows, 3]", "target  f32 [rows, 1]  labels", "mse", "momentum",
                             "--save-every N", "y  f32"})
      EXPECT_THAT(result.output, HasSubstr(part));
  }
}

TEST(Options, HelpOfAPageAndHelpOfEveryFlag) {
  const std::string page = runHere(mtc_program, {"--help"}).output;
  EXPECT_LE(std::count(page.begin(), page.end(), '\n'), 50);
  EXPECT_THAT(page, Not(HasSubstr("--schedule-steps")));
  RunResult all = runHere(mtc_program, {"--help-all", "--no-such-flag"});
  EXPECT_EQ(all.status, 0);
  for (const char *part : {"--schedule-steps N", "--last-batch HOW", "(default: wrap)", "drop",
                           "--profile-summary[=FILE]", "Exit codes:"})
    EXPECT_THAT(all.output, HasSubstr(part));
}

TEST(Options, ValuesThatAreMissing) {
  EXPECT_THAT(refusal({"--save", "--resume", "a"}),
              HasSubstr("--save: expected DIR, got the flag --resume"));
  EXPECT_THAT(refusal({"--save=", "--quiet"}), HasSubstr("--save=: expected DIR after the equals"));
  EXPECT_THAT(refusal({"--batch", "32"}), HasSubstr("mtc compile --dim batch=N"));
}

TEST(Options, Version) {
  RunResult result = runHere(mtc_program, {"--version"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, "sample: regression, compiled by mtc 0.0-test\n");
}

TEST(Options, EveryMistakeAtOnce) {
  std::string message = refusal({"--stepz", "5", "--epochs", "-1", "--seed", "x", "--data", "x",
                                 "--quiet=1", "more", "--save"});
  for (const char *part : {"unknown flag --stepz; did you mean '--steps'?",
                           "--epochs -1: expected a whole number of at least 1",
                           "--seed x:", "--data x: expected NAME=FILE", "--quiet: takes no value",
                           "unknown argument more", "--save: expected DIR"})
    EXPECT_THAT(message, HasSubstr(part));
  EXPECT_THAT(message, Not(HasSubstr("argument 5")));
}

TEST(Options, Normalization) {
  EXPECT_THAT(refusal({"--scale", "x"}), HasSubstr("--scale x: expected NAME=VALUES"));
  EXPECT_THAT(refusal({"--scale", "z=1"}), HasSubstr("--scale z=1: the program has no input 'z'"));
  EXPECT_THAT(refusal({"--scale", "x=1/0"}), HasSubstr("--scale x=1/0: divides by 0"));
  EXPECT_THAT(refusal({"--mean", "x=1", "--mean", "x=2"}), HasSubstr("'x' is given twice"));
  EXPECT_THAT(refusal({"--std", "x=0.5,-1"}), HasSubstr("expected standard deviations above 0"));
  EXPECT_THAT(refusal({"--mean", "x=1", "--resume", "a", "--export", "b.onnx"}),
              HasSubstr("--mean x=1: this run reads no data"));
}

TEST(Options, Contradictions) {
  EXPECT_THAT(refusal({"--steps", "1", "--epochs=1"}), HasSubstr("give one of them"));
  EXPECT_THAT(refusal({"--evaluate", "--gradients", "g"}), HasSubstr("different runs"));
  EXPECT_THAT(refusal({"--evaluate", "--save", "d"}), HasSubstr("change no weights"));
  EXPECT_THAT(refusal({"--save-every", "5"}), HasSubstr("needs --save"));
  EXPECT_THAT(refusal({"--resume", "a", "--weights", "b"}),
              HasSubstr("it cannot be combined with --weights"));
  EXPECT_THAT(refusal({"--threads", "5"}), HasSubstr("at most 4 threads"));
  EXPECT_THAT(refusal({"--threads", "99999999999"}), HasSubstr("--threads 99999999999"));
}

TEST(Options, TimeoutOutsideItsRange) {
  for (const std::string seconds : {"0", "0.5", "1e30"})
    EXPECT_THAT(refusal({"--timeout", seconds}),
                HasSubstr("--timeout " + seconds + ": expected 1 to 1e9 seconds"));
}

TEST(Options, GivenTwice) {
  std::string message = refusal({"--steps", "5", "--steps=6", "--quiet", "--quiet", "--save", "a",
                                 "--save", "a", "--data", "x=a", "--data", "x=b"});
  for (const char *flag : {"--steps", "--quiet", "--save"})
    EXPECT_THAT(message, HasSubstr(std::string(flag) + " is given 2 times; give it once"));
  EXPECT_THAT(refusal({"--data", "x=a", "--data", "x=b"}), HasSubstr("'x' is given twice"));
  EXPECT_THAT(refusal({"--shuffle", "--no-shuffle"}), HasSubstr("contradict each other"));
}

TEST(Options, NamesWithEqualsSigns) {
  TemporaryFolder folder;
  writeSampleData(folder, 4);
  MtcProgram program = mtc_program;
  std::vector<MtcInput> inputs(program.inputs, program.inputs + program.input_count);
  inputs[0].tensor.name = "x=y";
  inputs[1].tensor.name = "x";
  program.inputs = inputs.data();
  writeFile(folder / "a=b.npy", readFile(folder / "x.npy"));
  auto run = [&](const std::string &x, const std::string &target) {
    return runHere(program, {"--data", "x=y=" + x, "--data=x=" + target});
  };
  EXPECT_EQ(run(folder / "a=b.npy", folder / "target.npy").status, 0);
  EXPECT_THAT(run(folder / "target.npy", folder / "a=b.npy").error,
              HasSubstr("--data x=y=" + (folder / "target.npy")));
  EXPECT_THAT(runHere(program, {"--data", "y=z=f"}).error, HasSubstr("no input 'y'"));
}

TEST(Options, OnNan) {
  EXPECT_THAT(refusal({"--on-nan", "warn"}), HasSubstr("--on-nan warn: expected stop or continue"));
  EXPECT_THAT(refusal({"--evaluate", "--on-nan", "continue"}), HasSubstr("change no weights"));
  EXPECT_THAT(refusal({"--overwrite"}), HasSubstr("needs --save"));
}

TEST(Options, DeviceOfTheTarget) {
  TemporaryFolder folder;
  writeSampleData(folder, 4);
  for (const char *device : {"0", "cpu"})
    EXPECT_EQ(runHere(mtc_program, withData(folder, {"--device", device})).status, 0);
  EXPECT_THAT(refusal(withData(folder, {"--device", "1"})), HasSubstr("runs on the CPU"));
}

TEST(Options, PlacesThatCannotBeWritten) {
  TemporaryFolder folder;
  std::string message =
      refusal({"--export", folder.folder(), "--memory-report", folder / "none/report.json"});
  EXPECT_THAT(message, HasSubstr("--export " + folder.folder() + ": is a folder"));
  EXPECT_THAT(refusal({"--export", "/dev/null"}), HasSubstr("a device"));
  EXPECT_THAT(message, HasSubstr("--memory-report"));
}

TEST(Options, OfTheExecutable) {
  RunResult result = runSample({"--version"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, "mtc_runtime_sample: regression, compiled by mtc 0.0-test\n");
  EXPECT_EQ(runSample({"--nonsense"}).status, 1);
}

} // namespace
