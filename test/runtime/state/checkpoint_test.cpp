// Tests checkpoints: bit-exact resuming, kills, full disks, and rejected checkpoints.
#include "runtime/io/checksum.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mtc::test;
using testing::HasSubstr;
using testing::Not;

namespace {

class Checkpoint : public testing::Test {
protected:
  TemporaryFolder folder;

  void SetUp() override { writeSampleData(folder, 10); }

  RunResult run(const std::vector<std::string> &more, const MtcProgram &program = mtc_program) {
    return runHere(program, withData(folder, more));
  }
  nlohmann::json manifest(const std::string &name) {
    return nlohmann::json::parse(readFile(folder / name + "/manifest.json"));
  }
  std::string data(const std::string &name) {
    return readFile(folder / name + "/" + manifest(name)["file"].get<std::string>());
  }
  void setManifest(const std::string &name, const nlohmann::json &json) {
    writeFile(folder / name + "/manifest.json", json.dump());
  }
  /// Adds the checksum to a manifest.
  void signManifest(const std::string &name, nlohmann::json json) {
    json.erase("checksum");
    const std::string text = json.dump(2) + "\n";
    mtc::runtime::Checksum sum;
    sum.add(text.data(), static_cast<int64_t>(text.size()));
    json["checksum"] = mtc::runtime::checksumText(sum.value());
    setManifest(name, json);
  }
  /// Starts the sample, which saves after each step, and waits until it has saved more than `step`
  /// steps.
  int startSaving(const std::string &name, int64_t step) {
    std::vector<std::string> flags = {"--steps",     "1000000000",   "--save",
                                      folder / name, "--save-every", "1"};
    if (step > 0)
      flags.insert(flags.end(), {"--resume", folder / name});
    int process = startSample(withData(folder, flags));
    auto saved = [&] {
      return fileExists(folder / name + "/manifest.json") && manifest(name)["step"] > step;
    };
    for (int wait = 0; wait < 2000 && !saved(); ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return process;
  }
  static void killAndWait(int process) {
    kill(process, SIGKILL);
    int status = 0;
    waitpid(process, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
};

TEST_F(Checkpoint, ResumingGivesTheSameBits) {
  for (const char *order : {"--shuffle", "--no-shuffle"}) {
    std::string whole = std::string("whole") + order, half = std::string("half") + order;
    ASSERT_EQ(run({order, "--seed", "7", "--steps", "11", "--save", folder / whole, "--metrics",
                   folder / "whole.jsonl"})
                  .status,
              0);
    ASSERT_EQ(run({order, "--seed", "7", "--steps", "5", "--save", folder / half, "--metrics",
                   folder / "half.jsonl"})
                  .status,
              0);
    ASSERT_EQ(run({"--resume", folder / half, "--steps", "11", "--save", folder / half, "--metrics",
                   folder / "half.jsonl"})
                  .status,
              0);
    EXPECT_EQ(data(whole), data(half));
    EXPECT_EQ(manifest(half)["step"], 11);
    EXPECT_EQ(readLosses(folder / "whole.jsonl"), readLosses(folder / "half.jsonl"));
  }
}

TEST_F(Checkpoint, OnlyTheNewestStays) {
  writeFile(folder / "note.txt", "mine");
  mkdir((folder / "c").c_str(), 0777);
  writeFile(folder / "c/notes-step-1.safetensors", "mine too");
  writeFile(folder / "c/step-1-0.safetensors", "of a name that checkpoints have");
  writeFile(folder / "c/.step-3-0.safetensors.77.0.tmp", "left by a killed run");
  ASSERT_EQ(run({"--steps", "6", "--save", folder / "c", "--save-every", "2"}).status, 0);
  EXPECT_EQ(listFolder(folder / "c"),
            (std::vector<std::string>{"manifest.json", "notes-step-1.safetensors",
                                      "step-1-0.safetensors", "step-6-0.safetensors"}));
  // Saving the same step again must not overwrite the file that the manifest names.
  ASSERT_EQ(run({"--steps", "6", "--save", folder / "c", "--overwrite"}).status, 0);
  EXPECT_EQ(manifest("c")["file"], "step-6-1.safetensors");
  EXPECT_EQ(listFolder(folder / "c").size(), 4u);
}

TEST_F(Checkpoint, AKillAtAnyMomentLeavesACompleteOne) {
  ASSERT_EQ(run({"--steps", "1", "--save", folder / "c"}).status, 0);
  int64_t last = 1;
  for (int round = 0; round < 12; ++round) {
    int process = startSaving("c", last);
    std::this_thread::sleep_for(std::chrono::microseconds(137 * round));
    killAndWait(process);
    int64_t step = manifest("c")["step"];
    ASSERT_GT(step, last) << "round " << round;
    last = step;
    RunResult result =
        runHere(mtc_program, {"--resume", folder / "c", "--export", folder / "m.onnx"});
    ASSERT_EQ(result.status, 0) << result.error;
  }
  // The saved state equals that of an uninterrupted run.
  ASSERT_EQ(run({"--steps", std::to_string(last), "--save", folder / "whole", "--quiet"}).status,
            0);
  EXPECT_EQ(data("whole"), data("c"));
}

TEST_F(Checkpoint, AFailingWriteKeepsTheOldOne) {
  ASSERT_EQ(run({"--steps", "2", "--save", folder / "c"}).status, 0);
  std::string before = data("c");
  auto listing = listFolder(folder / "c");
  int status = -1;
  {
    FileSizeLimit limit(100);
    status =
        run({"--resume", folder / "c", "--steps", "4", "--save", folder / "c", "--quiet"}).status;
  }
  EXPECT_EQ(status, 2);
  EXPECT_EQ(listFolder(folder / "c"), listing);
  EXPECT_EQ(data("c"), before);
  EXPECT_EQ(manifest("c")["step"], 2);
}

TEST_F(Checkpoint, OfAnotherProgramIsRefused) {
  ASSERT_EQ(run({"--steps", "2", "--save", folder / "c"}).status, 0);
  MtcProgram other = mtc_program;
  other.fingerprint = "0ddba11";
  RunResult result = run({"--resume", folder / "c"}, other);
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("another program"));
  EXPECT_THAT(result.error, HasSubstr("--weights"));
}

TEST_F(Checkpoint, DamageIsNoticed) {
  ASSERT_EQ(run({"--steps", "2", "--save", folder / "c"}).status, 0);
  auto good = manifest("c");
  std::string file = folder / "c/" + good["file"].get<std::string>(), bytes = readFile(file);
  auto resume = [&] { return run({"--resume", folder / "c", "--steps", "3"}); };

  std::string flipped = bytes;
  flipped[flipped.size() - 2] ^= 1;
  writeFile(file, flipped);
  EXPECT_THAT(resume().error, HasSubstr("is damaged"));
  writeFile(file, bytes.substr(0, bytes.size() - 4));
  EXPECT_THAT(resume().error, HasSubstr("incomplete"));
  unlink(file.c_str());
  EXPECT_THAT(resume().error, HasSubstr("cannot be opened"));
  writeFile(file, bytes);

  for (const char *key : {"format", "version", "fingerprint", "step", "seed", "shuffle", "file",
                          "bytes", "checksums", "schedule_steps"}) {
    auto broken = good;
    broken.erase(key);
    signManifest("c", broken);
    RunResult result = resume();
    EXPECT_EQ(result.status, 1) << key;
    EXPECT_THAT(result.error, HasSubstr("manifest.json")) << key;
    EXPECT_THAT(result.error, Not(HasSubstr("altered"))) << key;
  }
  auto escaping = good;
  escaping["file"] = "../step-1-1.safetensors";
  signManifest("c", escaping);
  EXPECT_THAT(resume().error, HasSubstr("not one of a checkpoint"));
  writeFile(folder / "c/manifest.json", "{\"format\": ");
  EXPECT_EQ(resume().status, 1);
  setManifest("c", good);
  EXPECT_EQ(resume().status, 0);
}

TEST_F(Checkpoint, AnAlteredManifestIsNoticed) {
  ASSERT_EQ(run({"--steps", "2", "--save", folder / "c"}).status, 0);
  auto good = manifest("c");
  auto resume = [&] { return run({"--resume", folder / "c", "--steps", "3"}); };
  setManifest("c", good); // Blanks do not count.
  EXPECT_EQ(resume().status, 0);
  const nlohmann::json others[] = {{"step", 1},  {"seed", 9},        {"shuffle", false},
                                   {"batch", 8}, {"model", "other"}, {"schedule_steps", 9}};
  for (const nlohmann::json &other : others) {
    auto altered = good;
    altered[other[0].get<std::string>()] = other[1];
    setManifest("c", altered);
    RunResult result = resume();
    EXPECT_EQ(result.status, 1) << other;
    EXPECT_THAT(result.error, HasSubstr("altered since it was written")) << other;
  }
  auto unsigned_ = good;
  unsigned_.erase("checksum");
  setManifest("c", unsigned_);
  EXPECT_THAT(resume().error, HasSubstr("altered since it was written"));
  // JSON parsers differ in which of two equal keys they use.
  std::string text = good.dump();
  text.insert(1, "\"step\": 1, ");
  writeFile(folder / "c/manifest.json", text);
  EXPECT_THAT(resume().error, HasSubstr("holds 'step' twice"));
  text = good.dump();
  text.insert(text.find("\"fc.bias\""), "\"fc.bias\": \"\", ");
  writeFile(folder / "c/manifest.json", text);
  EXPECT_THAT(resume().error, HasSubstr("holds 'fc.bias' twice"));
  // Manifests of the first version had no checksum.
  unsigned_["version"] = 1;
  setManifest("c", unsigned_);
  EXPECT_THAT(resume().error, HasSubstr("is of version 1; this program reads versions 2 to 7"));
  EXPECT_THAT(resume().error, HasSubstr("--weights"));
}

TEST_F(Checkpoint, AModelMayHaveAnyName) {
  MtcProgram program = mtc_program;
  program.model_name = "no UTF-8: \xff\xc3";
  ASSERT_EQ(run({"--steps", "2", "--save", folder / "c"}, program).status, 0);
  EXPECT_EQ(run({"--steps", "3", "--resume", folder / "c"}, program).status, 0);
}

TEST_F(Checkpoint, OnlyARunThatGoesOnFromItReplacesIt) {
  ASSERT_EQ(run({"--steps", "6", "--save", folder / "c"}).status, 0);
  ASSERT_EQ(run({"--steps", "9", "--save", folder / "d"}).status, 0);
  std::string before = data("c");
  for (const std::vector<std::string> &resume :
       {std::vector<std::string>{}, {"--resume", folder / "d"}}) {
    std::vector<std::string> flags = {"--steps", "10", "--save", folder / "c"};
    flags.insert(flags.end(), resume.begin(), resume.end());
    RunResult result = run(flags);
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.error, HasSubstr("the checkpoint of step 6 is in"));
    EXPECT_THAT(result.error, HasSubstr("--overwrite"));
    EXPECT_EQ(data("c"), before);
    EXPECT_EQ(manifest("c")["step"], 6);
  }
  // The folder is given under another name.
  ASSERT_EQ(symlink("c", (folder / "link").c_str()), 0);
  EXPECT_EQ(run({"--steps", "7", "--save", folder / "c/", "--resume", folder / "link"}).status, 0);
  EXPECT_EQ(manifest("c")["step"], 7);
  EXPECT_EQ(run({"--steps", "2", "--save", folder / "c", "--overwrite"}).status, 0);
  EXPECT_EQ(manifest("c")["step"], 2);
  writeFile(folder / "c/manifest.json", "damaged");
  EXPECT_THAT(run({"--steps", "2", "--save", folder / "c"}).error,
              HasSubstr("a checkpoint that cannot be read"));
}

TEST_F(Checkpoint, OneProgramSavesIntoAFolderAtATime) {
  int process = startSaving("c", 0);
  RunResult second = run({"--steps", "3", "--save", folder / "c", "--resume", folder / "c"});
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.error, HasSubstr("process " + std::to_string(process) + " on "));
  EXPECT_THAT(second.error, HasSubstr("saves into this folder"));
  // Other processes may read a checkpoint while it is saved.
  for (int round = 0; round < 20; ++round) {
    RunResult reader = run({"--resume", folder / "c", "--evaluate"});
    ASSERT_EQ(reader.status, 0) << reader.error;
  }
  killAndWait(process);
  // A killed process leaves no lock, and its temporary files are removed later.
  int64_t step = manifest("c")["step"];
  EXPECT_TRUE(fileExists(folder / "c/.mtc-lock"));
  RunResult third =
      run({"--steps", std::to_string(step + 2), "--save", folder / "c", "--resume", folder / "c"});
  EXPECT_EQ(third.status, 0) << third.error;
  EXPECT_EQ(manifest("c")["step"], step + 2);
  EXPECT_EQ(listFolder(folder / "c").size(), 2u);
}

TEST_F(Checkpoint, AFolderWithNothingSavedIsRemoved) {
  EXPECT_EQ(run({"--steps", "0", "--save", folder / "a/b"}).status, 1);
  EXPECT_EQ(run({"--weights", folder / "none", "--save", folder / "a/b"}).status, 1);
  EXPECT_FALSE(fileExists(folder / "a"));
}

TEST_F(Checkpoint, FlagsThatContradictIt) {
  ASSERT_EQ(run({"--steps", "2", "--seed", "5", "--no-shuffle", "--save", folder / "c"}).status, 0);
  EXPECT_THAT(run({"--resume", folder / "c", "--seed", "6"}).error, HasSubstr("seed 5"));
  EXPECT_THAT(run({"--resume", folder / "c", "--shuffle"}).error, HasSubstr("--no-shuffle"));
  EXPECT_THAT(run({"--resume", folder / "none"}).error, HasSubstr("no checkpoint"));
  EXPECT_EQ(run({"--resume", folder / "c", "--seed", "5", "--steps", "3"}).status, 0);
  RunResult done = run({"--resume", folder / "c", "--steps", "2"});
  EXPECT_EQ(done.status, 0);
  EXPECT_THAT(done.output, HasSubstr("done already"));
}

TEST_F(Checkpoint, LinksDoNotLeadWritesOutOfItsFolder) {
  const std::string other = folder / "other", lock = folder / "c/.mtc-lock",
                    json = folder / "c/manifest.json";
  writeFile(other, "important");
  mkdir((folder / "c").c_str(), 0777);
  ASSERT_EQ(link(other.c_str(), lock.c_str()), 0);
  RunResult result = run({"--steps", "1", "--save", folder / "c"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr(".mtc-lock: is not a regular file of one name"));
  EXPECT_EQ(readFile(other), "important");
  EXPECT_EQ(listFolder(folder / "c"), (std::vector<std::string>{".mtc-lock"}));
  ASSERT_EQ(unlink(lock.c_str()), 0);
  ASSERT_EQ(symlink(other.c_str(), lock.c_str()), 0);
  EXPECT_EQ(run({"--steps", "1", "--save", folder / "c"}).status, 1);
  EXPECT_EQ(readFile(other), "important");
  ASSERT_EQ(unlink(lock.c_str()), 0);

  for (const bool isSymbolic : {true, false}) {
    ASSERT_EQ((isSymbolic ? symlink : link)(other.c_str(), json.c_str()), 0);
    EXPECT_EQ(run({"--steps", "1", "--save", folder / "c"}).status, 1);
    result = run({"--steps", "1", "--save", folder / "c", "--overwrite"});
    EXPECT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(readFile(other), "important");
    struct stat status;
    ASSERT_EQ(lstat(json.c_str(), &status), 0);
    EXPECT_TRUE(S_ISREG(status.st_mode));
    EXPECT_EQ(manifest("c")["step"], 1);
    ASSERT_EQ(unlink(json.c_str()), 0);
  }
}

TEST_F(Checkpoint, FolderThatCannotBeMade) {
  writeFile(folder / "file", "");
  RunResult result = run({"--save", folder / "file/deeper"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("--save"));
  ASSERT_EQ(run({"--steps", "1", "--save", folder / "a/b/c/"}).status, 0);
  EXPECT_TRUE(fileExists(folder / "a/b/c/manifest.json"));
}

TEST(Checksum, KnownValues) {
  auto checksum = [](const std::string &text) {
    mtc::runtime::Checksum sum;
    sum.add(text.data(), static_cast<int64_t>(text.size()));
    return sum.value();
  };
  EXPECT_EQ(checksum(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(checksum("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(checksum("abc"), 0x44BC2CF5AD770999u);
  std::string text = "Call me Ishmael. Some years ago--never mind how long precisely-";
  EXPECT_EQ(checksum(text), 0x02A2E85470D6FD96u);
  for (size_t size = 1; size < text.size(); ++size) {
    mtc::runtime::Checksum pieces;
    for (size_t at = 0; at < text.size(); at += size)
      pieces.add(text.data() + at, static_cast<int64_t>(std::min(size, text.size() - at)));
    EXPECT_EQ(pieces.value(), 0x02A2E85470D6FD96u) << size;
  }
}

} // namespace
