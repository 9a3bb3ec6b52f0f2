// Tests that outputs of a run never replace its inputs, devices, or its other outputs.
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace mtc::test;
using testing::HasSubstr;

namespace {

class OutputCheck : public testing::Test {
protected:
  void SetUp() override { writeSampleData(folder, 10); }

  /// Returns the message, after checking that no file has changed.
  std::string refusal(const std::vector<std::string> &more) {
    std::vector<std::string> names = listFolder(folder.folder()), before;
    for (const std::string &name : names)
      if (name != "pipe" && name != "out")
        before.push_back(readFile(folder / name));
    RunResult result = runHere(mtc_program, withData(folder, more));
    EXPECT_EQ(result.status, 1) << result.output;
    EXPECT_EQ(listFolder(folder.folder()), names);
    std::vector<std::string> after;
    for (const std::string &name : names)
      if (name != "pipe" && name != "out")
        after.push_back(readFile(folder / name));
    EXPECT_EQ(after, before);
    return result.error;
  }

  TemporaryFolder folder;
};

TEST_F(OutputCheck, NothingThatIsReadIsReplaced) {
  ASSERT_EQ(symlink((folder / "x.npy").c_str(), (folder / "soft").c_str()), 0);
  ASSERT_EQ(link((folder / "x.npy").c_str(), (folder / "hard").c_str()), 0);
  const std::vector<std::vector<std::string>> modes = {
      {"--export"},        {"--export-training"}, {"--metrics"},  {"--profile"},
      {"--memory-report"}, {"--outputs"},         {"--gradients"}};
  for (const auto &mode : modes)
    for (const char *name : {"x.npy", "soft", "hard"})
      EXPECT_THAT(
          refusal({mode[0], folder / name}),
          HasSubstr(mode[0] + " " + (folder / name) + ": is the data of 'x'; choose another name"));
  EXPECT_THAT(refusal({"--profile-summary=" + (folder / "target.npy")}),
              HasSubstr("is the data of 'target'"));
  ASSERT_EQ(runHere(mtc_program, withData(folder, {"--save", folder / "out", "--quiet"})).status,
            0);
  const std::string manifest = folder / "out/manifest.json", before = readFile(manifest);
  EXPECT_THAT(refusal({"--resume", folder / "out", "--export", manifest}),
              HasSubstr("is part of the checkpoint in"));
  EXPECT_THAT(refusal({"--save", folder / "out", "--metrics", manifest}),
              HasSubstr("is part of the checkpoint in"));
  EXPECT_EQ(readFile(manifest), before);
}

TEST_F(OutputCheck, WhatMtcDidNotWriteIsKeptUnlessForced) {
  const std::vector<std::pair<std::string, std::string>> outputs = {
      {"--export", "m.onnx"},
      {"--export-training", "t.onnx"},
      {"--export-weights", "w.safetensors"},
      {"--metrics", "m.jsonl"},
      {"--profile", "p.json"},
      {"--memory-report", "r.json"},
      {"--profile-summary", "s.json"},
      {"--outputs", "o"},
      {"--gradients", "g"}};
  std::vector<std::string> all;
  auto withOutput = [&](const std::string &flag, const std::string &name) {
    return std::vector<std::string>{flag + "=" + (folder / name), "--quiet"};
  };
  for (const auto &[flag, name] : outputs) {
    // Files that mtc wrote are replaced.
    for (int time = 0; time < 2; ++time) {
      const RunResult result = runHere(mtc_program, withData(folder, withOutput(flag, name)));
      EXPECT_EQ(result.status, 0) << flag << result.error;
    }
    const std::string written = readFile(folder / name);
    for (const char *other : {"IMPORTANT", "{\"step\":1,\"loss\":2}\n", "[1, 2]\n", "{\"a\": 1}",
                              "step 1 loss 2", "\x08\x07\x12\x04name"}) {
      writeFile(folder / name, other);
      EXPECT_THAT(refusal(withOutput(flag, name)),
                  HasSubstr(flag + " " + (folder / name) +
                            ": exists, and mtc did not write it; choose another name, or "
                            "replace it with --force"));
    }
    std::vector<std::string> forced = withOutput(flag, name);
    forced.emplace_back("--force");
    EXPECT_EQ(runHere(mtc_program, withData(folder, forced)).status, 0) << flag;
    EXPECT_EQ(readFile(folder / name).substr(0, 8), written.substr(0, 8)) << flag;
    writeFile(folder / name, "IMPORTANT");
    if (flag != "--outputs" && flag != "--gradients")
      all.push_back(flag + "=" + (folder / name));
  }
  // All errors are reported together.
  const std::string message = refusal(all);
  for (const std::string &flag : all)
    EXPECT_THAT(message, HasSubstr(flag.substr(0, flag.find('=')) + " " +
                                   flag.substr(flag.find('=') + 1) + ": exists"));
}

TEST_F(OutputCheck, MetricsOfAResumedRunGoOn) {
  auto train = [&](const std::vector<std::string> &more) {
    std::vector<std::string> flags = {"--save", folder / "out", "--metrics", folder / "m",
                                      "--quiet"};
    flags.insert(flags.end(), more.begin(), more.end());
    return runHere(mtc_program, withData(folder, flags));
  };
  ASSERT_EQ(train({"--steps", "2"}).status, 0);
  ASSERT_EQ(train({"--steps", "4", "--resume", folder / "out"}).status, 0);
  EXPECT_EQ(readLosses(folder / "m").size(), 4u);
  writeFile(folder / "m", "mine\n");
  EXPECT_EQ(train({"--steps", "5", "--resume", folder / "out"}).status, 1);
  EXPECT_EQ(readFile(folder / "m"), "mine\n");
}

TEST_F(OutputCheck, TheModelIsNeverReplaced) {
  MtcProgram program = mtc_program;
  const std::string files = std::string("m.onnx") + '\0' + "m.onnx.data" + '\0';
  program.model_files = files.c_str();
  for (const char *name : {"m.onnx", "m.onnx.data"}) {
    writeFile(folder / name, "the user's");
    const RunResult result =
        runHere(program, withData(folder, {"--export", folder / name, "--force"}), folder / "t");
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.error, HasSubstr("is the model that the program was compiled from"));
    EXPECT_EQ(readFile(folder / name), "the user's");
  }
}

TEST_F(OutputCheck, NamesOfCheckpointsAndLinksToNothingAreRefused) {
  ASSERT_EQ(mkdir((folder / "out").c_str(), 0777), 0);
  for (const char *name : {"manifest.json", "step-3-0.safetensors", ".mtc-lock"})
    EXPECT_THAT(refusal({"--save", folder / "out", "--metrics", folder / "out/./" + name}),
                HasSubstr("is a name of the checkpoints that --save writes there"));
  ASSERT_EQ(symlink("nothing", (folder / "out/link").c_str()), 0);
  EXPECT_THAT(refusal({"--metrics", folder / "out/link"}), HasSubstr("is a broken symbolic link"));
}

TEST_F(OutputCheck, WeightsAndTheTensorsOfAFileAreReadToo) {
  std::string header =
      R"({"x":{"dtype":"F32","shape":[1,3],"data_offsets":[0,12]},"fc.bias":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})";
  writeFile(folder / "w.safetensors", safetensorsBytes(header, bytesOf<float>({1, 2, 3, 4})));
  EXPECT_THAT(
      refusal({"--weights", folder / "w.safetensors", "--export", folder / "w.safetensors"}),
      HasSubstr("is the file of --weights"));
  RunResult result = runHere(mtc_program, {"--data", "x=" + (folder / "w.safetensors:x"),
                                           "--outputs", folder / "w.safetensors"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("is the data of 'x'"));
}

TEST_F(OutputCheck, TheProgramIsNotReplaced) {
  writeFile(folder / "sample", readFile(besideThisTest(sampleName)));
  ASSERT_EQ(chmod((folder / "sample").c_str(), 0755), 0);
  RunResult result =
      runProgramFile(folder / "sample", withData(folder, {"--export", folder / "sample"}));
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("is this program; choose another name"));
}

TEST_F(OutputCheck, OutputsAreDifferentFiles) {
  EXPECT_THAT(refusal({"--metrics", folder / "m", "--export", folder.folder() + "/./m"}),
              HasSubstr("is the same file as that of --export; give each a file of its own"));
  writeFile(folder / "there", "");
  ASSERT_EQ(symlink("there", (folder / "link").c_str()), 0);
  EXPECT_THAT(refusal({"--memory-report", folder / "there", "--profile", folder / "link"}),
              HasSubstr("is the same file as that of --memory-report"));
}

TEST_F(OutputCheck, OnlyStreamsGoToDevices) {
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const char *flag : {"--export", "--outputs", "--gradients", "--memory-report"})
    EXPECT_THAT(refusal({flag, folder / "pipe"}), HasSubstr("is a device or a pipe"));
  EXPECT_THAT(refusal({"--metrics", folder.folder()}), HasSubstr("is a folder"));
  EXPECT_THAT(refusal({"--metrics", folder / "no/m"}), HasSubstr("cannot be written to"));
  EXPECT_EQ(runHere(mtc_program, withData(folder, {"--metrics", "/dev/null", "--quiet"})).status,
            0);
}

} // namespace
