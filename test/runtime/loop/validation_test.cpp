// Tests validation between steps: it does not change the training, keeps the best checkpoint, stops
// early, and can be interrupted.
#include "runtime/io/checksum.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mtc::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Json = nlohmann::json;
using Flags = std::vector<std::string>;

class Validation : public testing::Test {
protected:
  TemporaryFolder folder;
  const std::string saved = folder / "c", log = folder / "m.jsonl";

  void SetUp() override {
    writeSampleData(folder, 10);
    writeSet("val", 7, [](int64_t row) { return sampleTarget(row) + 0.5f; });
  }

  /// Writes NAME-x.npy and NAME-target.npy: rows of x from 20 on, and targets of these rows.
  template <typename Target>
  void writeSet(const std::string &name, int64_t rows, const Target &target) {
    std::vector<float> x, targets;
    for (int64_t row = 20; row < 20 + rows; ++row) {
      for (int64_t feature = 0; feature < 3; ++feature)
        x.push_back(sampleX(row, feature));
      targets.push_back(target(row));
    }
    const std::string count = "(" + std::to_string(rows);
    writeFile(folder / (name + "-x.npy"), npyBytes("<f4", count + ", 3)", bytesOf(x)));
    writeFile(folder / (name + "-target.npy"), npyBytes("<f4", count + ", 1)", bytesOf(targets)));
  }

  Flags validating(Flags more, const std::string &set = "val") {
    Flags flags = {"--validate", "x=" + (folder / (set + "-x.npy")), "--validate",
                   "target=" + (folder / (set + "-target.npy"))};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
  RunResult run(const Flags &more, const MtcProgram &program = mtc_program) {
    return runHere(program, withData(folder, more));
  }
  /// Runs the sample, which must succeed without warnings.
  std::string runWell(Flags more, const MtcProgram &program = mtc_program) {
    if (std::find(more.begin(), more.end(), "--last-batch") == more.end())
      more.insert(more.end(), {"--last-batch", "wrap"}); // Otherwise a note tells of it.
    RunResult result = run(more, program);
    EXPECT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(result.error, "");
    return result.output;
  }

  /// Writes the validation set `name`, whose loss is minimal after `steps` steps.
  void writeSetWithBestStep(const std::string &name, int64_t step) {
    writeSet(name, 7, sampleTarget);
    runWell({"--steps", std::to_string(step), "--export-weights", folder / "w.safetensors"});
    ASSERT_EQ(
        runHere(mtc_program, {"--data", "x=" + (folder / (name + "-x.npy")), "--weights",
                              folder / "w.safetensors", "--outputs", folder / "y.safetensors"})
            .status,
        0);
    const std::string file = readFile(folder / "y.safetensors");
    uint64_t length = 0;
    file.copy(reinterpret_cast<char *>(&length), 8);
    const auto at = Json::parse(file.substr(8, length))["y"]["data_offsets"][0].get<size_t>();
    writeFile(folder / (name + "-target.npy"),
              npyBytes("<f4", "(7, 1)", file.substr(8 + length + at, 7 * sizeof(float))));
  }

  static std::vector<Json> lines(const std::string &path) {
    std::vector<Json> all;
    std::istringstream text(readFile(path));
    for (std::string line; std::getline(text, line);)
      all.push_back(Json::parse(line));
    return all;
  }
  /// Returns the lines of steps without their times, and those of validations.
  static std::vector<Json> stepLines(const std::string &path) {
    std::vector<Json> steps;
    for (Json line : lines(path))
      if (line.contains("loss")) {
        for (const char *time : {"step_seconds", "samples_per_second"})
          line.erase(time);
        steps.push_back(line);
      }
    return steps;
  }
  static std::vector<Json> validations(const std::string &path) {
    std::vector<Json> found;
    for (const Json &line : lines(path))
      if (line.contains("validation_loss"))
        found.push_back(line);
    return found;
  }
  static std::vector<int64_t> stepsOf(const std::vector<Json> &lines) {
    std::vector<int64_t> steps;
    steps.reserve(lines.size());
    for (const Json &line : lines)
      steps.push_back(line["step"]);
    return steps;
  }

  static Json manifest(const std::string &name) {
    return Json::parse(readFile(name + "/manifest.json"));
  }
  /// Returns the step of a checkpoint, or 0.
  static int64_t stepOf(const std::string &name) {
    return fileExists(name + "/manifest.json") ? manifest(name)["step"].get<int64_t>() : 0;
  }
  static std::string fileOf(const std::string &name) {
    return name + "/" + manifest(name)["file"].get<std::string>();
  }
  static std::string data(const std::string &name) { return readFile(fileOf(name)); }
};

TEST_F(Validation, ChangesNoBitOfTraining) {
  for (const int64_t staging : {mtc_program.staging, int64_t{0}}) {
    MtcProgram program = mtc_program;
    program.staging = staging;
    runWell({"--steps", "9", "--save", folder / "plain", "--metrics", folder / "plain.jsonl"},
            program);
    runWell(
        validating({"--steps", "9", "--save", saved, "--metrics", log, "--validate-every", "2"}),
        program);
    EXPECT_EQ(data(saved), data(folder / "plain"));
    EXPECT_EQ(stepLines(log), stepLines(folder / "plain.jsonl"));
    EXPECT_THAT(stepsOf(validations(log)), ElementsAre(2, 4, 6, 8, 9));
    for (const char *name : {"c", "plain"})
      std::filesystem::remove_all(folder / name);
  }
}

TEST_F(Validation, IsTheEvaluationOfTheCheckpoint) {
  runWell(validating({"--steps", "5", "--save", saved, "--metrics", log, "--validate-every", "5"}));
  ASSERT_EQ(runHere(mtc_program, {"--data", "x=" + (folder / "val-x.npy"), "--data",
                                  "target=" + (folder / "val-target.npy"), "--resume", saved,
                                  "--evaluate", "--metrics", folder / "e.jsonl"})
                .status,
            0);
  const Json evaluated = lines(folder / "e.jsonl").front(), validated = validations(log).front();
  EXPECT_EQ(validated["validation_loss"], evaluated["loss"]);
  EXPECT_EQ(validated["validation_samples"], 7);
  EXPECT_EQ(validated["best"], true);
}

TEST_F(Validation, AtTheEndOfEachEpochByDefault) {
  // The data has 10 rows in batches of 4.
  runWell(validating({"--epochs", "4", "--metrics", log, "--last-batch", "wrap"}));
  EXPECT_THAT(stepsOf(validations(log)), ElementsAre(3, 5, 8, 10));
  runWell(validating({"--epochs", "3", "--metrics", log, "--last-batch", "drop"}));
  EXPECT_THAT(stepsOf(validations(log)), ElementsAre(2, 4, 6));
  // A run that ends within an epoch is validated at its end.
  runWell(validating({"--steps", "4", "--metrics", log, "--last-batch", "wrap"}));
  EXPECT_THAT(stepsOf(validations(log)), ElementsAre(3, 4));
  runWell(validating(
      {"--steps", "2", "--metrics", log, "--validate-every", "epoch", "--last-batch", "wrap"}));
  EXPECT_THAT(stepsOf(validations(log)), ElementsAre(2));
}

TEST_F(Validation, OfWholeBatchesOnly) {
  MtcProgram program = mtc_program;
  program.row_metrics = {4, 0, nullptr};
  RunResult result =
      run(validating({"--steps", "4", "--metrics", log, "--validate-every", "2"}), program);
  EXPECT_EQ(result.status, 0);
  const size_t first = result.error.find("the last 3 samples do not fill a batch of 4");
  EXPECT_NE(first, std::string::npos) << result.error;
  EXPECT_EQ(result.error.find("do not fill", first + 20), std::string::npos) << "told once";
  EXPECT_EQ(validations(log).front()["validation_samples"], 4);
  writeSet("few", 3, sampleTarget);
  result = run(validating({"--steps", "4"}, "few"), program);
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("--validate: the loss of this program is known for whole"));
}

TEST_F(Validation, KeepsTheBestCheckpoint) {
  writeSetWithBestStep("val", 4);
  const std::string output = runWell(validating({"--steps", "9", "--save", saved, "--metrics", log,
                                                 "--validate-every", "1", "--keep-best", "loss"}));
  EXPECT_THAT(output, HasSubstr("best validation loss"));
  EXPECT_THAT(output, HasSubstr("the checkpoint of step 4 is in " + saved + "/best"));
  EXPECT_EQ(manifest(saved)["step"], 9);
  EXPECT_EQ(manifest(saved + "/best")["step"], 4);
  EXPECT_EQ(manifest(saved)["validation"]["best_step"], 4);
  for (const Json &line : validations(log))
    EXPECT_EQ(line["best"], line["step"] <= 4) << line;

  // The best checkpoint is complete: it can be resumed, evaluated and exported.
  runWell({"--steps", "4", "--save", folder / "four"});
  EXPECT_EQ(data(saved + "/best"), data(folder / "four"));
  runWell({"--resume", saved + "/best", "--steps", "9", "--save", folder / "again"});
  EXPECT_EQ(data(folder / "again"), data(saved));
  EXPECT_EQ(
      runHere(mtc_program, {"--resume", saved + "/best", "--export", folder / "b.onnx"}).status, 0);

  // The best value is kept across an interruption, so that a later, worse value does not replace
  // the checkpoint.
  runWell(validating({"--resume", saved, "--save", saved, "--steps", "12", "--metrics", log,
                      "--validate-every", "1", "--keep-best", "loss"}));
  EXPECT_EQ(manifest(saved + "/best")["step"], 4);
  for (const Json &line : validations(log))
    EXPECT_EQ(line["best"], line["step"] <= 4) << line;
  EXPECT_EQ(listFolder(saved).size(), 3u) << "manifest, data, best";
  EXPECT_EQ(listFolder(saved + "/best").size(), 2u);
}

TEST_F(Validation, ResumesTheBestIntoAnotherFolder) {
  writeSetWithBestStep("val", 4);
  const Flags flags = {"--validate-every", "1", "--keep-best", "loss", "--steps"};
  auto with = [&](Flags more) {
    more.insert(more.begin(), flags.begin(), flags.end());
    return validating(more);
  };
  runWell(with({"9", "--save", saved}));
  // A run that resumes from the best checkpoint has a best checkpoint from the start.
  runWell(with({"6", "--resume", saved + "/best", "--save", folder / "d"}));
  EXPECT_EQ(manifest(folder / "d/best")["step"], 4);
  EXPECT_EQ(data(folder / "d/best"), data(saved + "/best"));
  // A run that resumes from a later checkpoint reports the folder in which the best checkpoint is
  // missing.
  RunResult result = run(with({"10", "--resume", saved, "--save", folder / "e"}));
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.error, HasSubstr("note: " + (folder / "e/best") + ": the best validation"));
  EXPECT_FALSE(fileExists(folder / "e/best"));
  // The checkpoint of another run is replaced only with --overwrite.
  RunResult refused = run(with({"2", "--save", folder / "d"}));
  EXPECT_EQ(refused.status, 1);
  ASSERT_EQ(unlink((folder / "d/manifest.json").c_str()), 0);
  refused = run(with({"2", "--save", folder / "d"}));
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.error, HasSubstr("the checkpoint of step 4 is in " + (folder / "d/best")));
  runWell(with({"2", "--save", folder / "d", "--overwrite"}));
  EXPECT_EQ(manifest(folder / "d/best")["step"], 2);
}

TEST_F(Validation, StopsEarly) {
  writeSetWithBestStep("val", 2);
  const Flags flags = validating({"--steps", "20", "--validate-every", "1", "--early-stop", "3",
                                  "--keep-best", "loss", "--export", folder / "m.onnx"});
  auto with = [&](Flags more) {
    more.insert(more.begin(), flags.begin(), flags.end());
    return more;
  };
  const std::string output = runWell(with({"--save", saved, "--metrics", log}));
  EXPECT_THAT(output, HasSubstr("stopped early after step 5 of 20: no better validation loss in 3 "
                                "validations; the best, "));
  EXPECT_THAT(output, HasSubstr("of step 2; the checkpoint of step 2 is in " + saved + "/best\n"));
  EXPECT_EQ(manifest(saved)["step"], 5);
  EXPECT_EQ(manifest(saved + "/best")["step"], 2);
  EXPECT_TRUE(fileExists(folder / "m.onnx"));
  // A run that resumes after an early stop has nothing to do, unless its patience is larger.
  EXPECT_THAT(runWell(with({"--save", saved, "--resume", saved})), HasSubstr("stopped early"));
  EXPECT_EQ(manifest(saved)["step"], 5);
  Flags patient = with({"--save", saved, "--resume", saved});
  patient[std::find(patient.begin(), patient.end(), "3") - patient.begin()] = "5";
  runWell(patient);
  EXPECT_EQ(manifest(saved)["step"], 7);

  // Interruptions do not count as improvements.
  runWell(validating({"--steps", "4", "--save", folder / "d", "--validate-every", "1"}));
  EXPECT_THAT(runWell(validating({"--steps", "20", "--resume", folder / "d", "--save", folder / "d",
                                  "--validate-every", "1", "--early-stop", "3"})),
              HasSubstr("stopped early after step 5"));
  EXPECT_FALSE(fileExists(folder / "d/best"));
  EXPECT_EQ(runWell(with({"--quiet", "--save", folder / "q"})), "");
}

TEST_F(Validation, ALossThatIsNotANumberIsNeverTheBest) {
  writeSet("nan", 7, [](int64_t) { return std::nanf(""); });
  RunResult result = run(validating({"--steps", "6", "--save", saved, "--metrics", log,
                                     "--validate-every", "2", "--keep-best", "loss"},
                                    "nan"));
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.error, HasSubstr("warning: validation after step 2: the loss is not finite"));
  EXPECT_FALSE(fileExists(saved + "/best"));
  EXPECT_EQ(manifest(saved)["step"], 6);
  ASSERT_EQ(validations(log).size(), 3u);
  for (const Json &line : validations(log)) {
    EXPECT_TRUE(line["validation_loss"].is_null());
    EXPECT_EQ(line["best"], false);
  }
  result = run(validating({"--steps", "6", "--validate-every", "2", "--early-stop", "2"}, "nan"));
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("stopped early after step 4 of 6: no better validation loss "
                                       "in 2 validations; none was a number"));
}

TEST_F(Validation, ACheckpointOfAnotherMetricStartsAnew) {
  runWell(validating({"--steps", "3", "--save", saved, "--keep-best", "loss"}));
  Json other = manifest(saved);
  other["validation"]["metric"] = "accuracy";
  other.erase("checksum");
  mtc::runtime::Checksum sum;
  const std::string text = other.dump(2) + "\n";
  sum.add(text.data(), static_cast<int64_t>(text.size()));
  other["checksum"] = mtc::runtime::checksumText(sum.value());
  writeFile(saved + "/manifest.json", other.dump());
  RunResult result =
      run(validating({"--steps", "5", "--resume", saved, "--save", saved, "--keep-best", "loss"}));
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.error,
              HasSubstr("warning: --keep-best loss: the checkpoint's run kept the best accuracy"));
  EXPECT_EQ(manifest(saved)["validation"]["best_step"], 5);
}

TEST_F(Validation, WithoutItTheHistoryRemains) {
  writeSetWithBestStep("val", 2);
  runWell(validating({"--steps", "4", "--save", saved, "--validate-every", "1"}));
  const Json before = manifest(saved)["validation"];
  runWell({"--steps", "6", "--resume", saved, "--save", saved});
  EXPECT_EQ(manifest(saved)["validation"], before);
}

TEST_F(Validation, AFinishedRunIsValidatedOnce) {
  runWell({"--steps", "4", "--save", saved});
  runWell(validating({"--steps", "4", "--resume", saved, "--save", saved, "--metrics", log}));
  EXPECT_THAT(stepsOf(validations(log)), ElementsAre(4));
  runWell(validating({"--steps", "4", "--resume", saved, "--save", saved, "--metrics", log}));
  EXPECT_THAT(stepsOf(validations(log)), ElementsAre(4)) << "the line of the first run";
}

TEST_F(Validation, DropsItsLinesAfterTheCheckpoint) {
  const Flags flags = {"--metrics", log, "--validate-every", "2", "--steps"};
  auto with = [&](Flags more) {
    more.insert(more.begin(), flags.begin(), flags.end());
    return validating(more);
  };
  runWell(with({"8"}));
  const std::vector<Json> whole = stepLines(log);
  const std::vector<int64_t> steps = stepsOf(lines(log));
  runWell({"--steps", "5", "--save", saved});
  runWell(with({"8", "--resume", saved}));
  EXPECT_EQ(stepLines(log), whole);
  EXPECT_EQ(stepsOf(lines(log)), steps);
}

TEST_F(Validation, ASignalStopsItPromptly) {
  // One validation would take far longer than the time limit of the test.
  writeSet("large", 400000, sampleTarget);
  const int process =
      startSample(withData(folder, validating({"--steps", "1000", "--validate-every", "1", "--save",
                                               saved, "--metrics", log, "--keep-best", "loss"},
                                              "large")));
  while (!fileExists(log) || readFile(log).empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kill(process, SIGTERM);
  int status = 0;
  waitpid(process, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
  const auto step = manifest(saved)["step"].get<int64_t>();
  EXPECT_EQ(stepsOf(stepLines(log)).back(), step);
  // The interrupted validation runs first, as if there had been no signal.
  runWell(validating({"--steps", std::to_string(step + 1), "--resume", saved, "--save", saved,
                      "--validate-every", "1", "--metrics", folder / "n.jsonl"}));
  const std::vector<int64_t> validated = stepsOf(validations(folder / "n.jsonl"));
  if (validations(log).size() < static_cast<size_t>(step))
    EXPECT_THAT(validated, ElementsAre(step, step + 1));
  runWell({"--steps", std::to_string(step + 1), "--save", folder / "plain"});
  EXPECT_EQ(data(saved), data(folder / "plain"));
}

TEST_F(Validation, DataThatShrinksLeavesACheckpoint) {
  const int process =
      startSample(withData(folder, validating({"--steps", "1000000000", "--validate-every", "1",
                                               "--save", saved, "--metrics", log})));
  while (!fileExists(log) || readFile(log).empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_EQ(truncate((folder / "val-x.npy").c_str(), 150), 0);
  int status = 0;
  waitpid(process, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(manifest(saved)["step"], stepsOf(stepLines(log)).back());
}

TEST_F(Validation, KeepsTheLastCheckpoints) {
  runWell({"--steps", "11", "--save", saved, "--save-every", "2", "--keep", "3"});
  EXPECT_EQ(manifest(saved)["step"], 11);
  EXPECT_THAT(listFolder(saved),
              ElementsAre("manifest.json", "step-10", "step-11-0.safetensors", "step-6", "step-8"));
  for (const char *step : {"6", "8", "10"}) {
    const std::string kept = saved + "/step-" + step;
    EXPECT_EQ(listFolder(kept).size(), 2u);
    EXPECT_EQ(manifest(kept)["step"], std::stoi(step));
    runWell({"--steps", step, "--save", folder / step});
    EXPECT_EQ(data(kept), data(folder / step));
  }
  // Any of these checkpoints can be resumed; those of later steps are replaced when the run reaches
  // them.
  EXPECT_EQ(run({"--resume", saved + "/step-6", "--save", saved, "--steps", "8"}).status, 1);
  runWell({"--resume", saved + "/step-6", "--save", saved, "--steps", "9", "--save-every", "1",
           "--keep", "2", "--overwrite"});
  EXPECT_THAT(listFolder(saved),
              ElementsAre("manifest.json", "step-10", "step-8", "step-9", "step-9-0.safetensors"));
  EXPECT_EQ(data(saved + "/step-8"), data(folder / "8"));
}

TEST_F(Validation, RemovesOnlyCheckpoints) {
  auto make = [&](const std::string &name) { mkdir((saved + "/" + name).c_str(), 0777); };
  mkdir(saved.c_str(), 0777);
  for (const char *name : {"step-1", "step-2", "step-03", "step-4", "steps", "best"})
    make(name);
  writeFile(saved + "/step-1/manifest.json", "{\"name\": \"of a web page\"}");
  writeFile(saved + "/step-1/step-1-0.safetensors", "mine");
  writeFile(saved + "/step-2/step-2-0.safetensors", "mine");
  writeFile(saved + "/step-03/notes.txt", "mine");
  ASSERT_EQ(symlink("steps", (saved + "/step-3").c_str()), 0);
  writeFile(saved + "/steps/manifest.json", "mine");
  runWell({"--steps", "6", "--save", saved, "--save-every", "1", "--keep", "1", "--overwrite"});
  EXPECT_EQ(readFile(saved + "/step-1/step-1-0.safetensors"), "mine");
  EXPECT_EQ(readFile(saved + "/step-2/step-2-0.safetensors"), "mine");
  EXPECT_EQ(readFile(saved + "/step-03/notes.txt"), "mine");
  EXPECT_EQ(manifest(saved + "/step-6")["step"], 6);
  EXPECT_FALSE(fileExists(saved + "/step-5"));
  EXPECT_FALSE(fileExists(saved + "/step-4"));

  // A user's file in the folder of a checkpoint remains, and so does the folder.
  writeFile(saved + "/step-6/notes.txt", "mine");
  runWell({"--resume", saved, "--steps", "7", "--save", saved, "--save-every", "1", "--keep", "1"});
  EXPECT_EQ(listFolder(saved + "/step-6"), Flags{"notes.txt"});
}

TEST_F(Validation, KeptCheckpointsNeedNoMoreOfTheDisk) {
  runWell(validating({"--steps", "4", "--save", saved, "--save-every", "2", "--keep", "2",
                      "--validate-every", "4", "--keep-best", "loss"}));
  struct stat latest, kept, best;
  ASSERT_EQ(stat(fileOf(saved).c_str(), &latest), 0);
  ASSERT_EQ(stat(fileOf(saved + "/step-4").c_str(), &kept), 0);
  ASSERT_EQ(stat(fileOf(saved + "/best").c_str(), &best), 0);
  EXPECT_EQ(latest.st_ino, kept.st_ino);
  EXPECT_EQ(latest.st_ino, best.st_ino);
}

TEST_F(Validation, AKillAtAnyMomentLeavesAllCheckpointsIntact) {
  const Flags flags = validating({"--save", saved, "--save-every", "1", "--keep", "2",
                                  "--validate-every", "1", "--keep-best", "loss"});
  for (int round = 0; round < 6; ++round) {
    Flags start = flags;
    start.insert(start.end(), {"--steps", "1000000000", "--overwrite"});
    if (fileExists(saved + "/manifest.json"))
      start.insert(start.end(), {"--resume", saved});
    const int64_t before = stepOf(saved);
    const int process = startSample(withData(folder, start));
    for (int wait = 0; wait < 4000 && stepOf(saved) <= before + 1; ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * round));
    kill(process, SIGKILL);
    int status = 0;
    waitpid(process, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    for (const std::string &name : listFolder(saved)) {
      const std::string each = saved + "/" + name;
      if (fileExists(each + "/manifest.json")) {
        EXPECT_EQ(run({"--resume", each, "--evaluate"}).status, 0) << each;
      }
    }
    EXPECT_EQ(run({"--resume", saved, "--evaluate"}).status, 0);
    const Json state = manifest(saved)["validation"];
    EXPECT_GE(manifest(saved + "/best")["step"], state["best_step"]);
  }
  const int64_t step = stepOf(saved);
  ASSERT_GT(step, 0) << "no run saved anything";
  Flags last = flags;
  last.insert(last.end(), {"--steps", std::to_string(step + 4), "--resume", saved});
  ASSERT_EQ(run(last).status, 0);
  runWell({"--steps", std::to_string(step + 4), "--save", folder / "plain"});
  EXPECT_EQ(data(saved), data(folder / "plain"));
}

TEST_F(Validation, ErrorsComeBeforeTheFirstStep) {
  RunResult result = run({"--validate", "x=" + (folder / "none.npy"), "--validate",
                          "targets=" + (folder / "x.npy"), "--seed", "1", "--save", saved,
                          "--resume", folder / "none"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.output, "");
  const Flags parts = {folder / "none.npy",
                       "--validate targets=" + (folder / "x.npy") +
                           ": the program has no input 'targets'; did you mean 'target'?",
                       "--validate target=FILE is missing", "holds no checkpoint"};
  for (const std::string &part : parts)
    EXPECT_THAT(result.error, HasSubstr(part));
  EXPECT_FALSE(fileExists(saved));
  writeFile(folder / "short.npy", npyBytes("<f4", "(6, 1)", std::string(24, '\0')));
  result = run({"--validate", "x=" + (folder / "val-x.npy"), "--validate",
                "target=" + (folder / "short.npy")});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("has 7 rows, but --validate target="));
}

TEST_F(Validation, FlagsThatContradict) {
  auto refusal = [&](const Flags &flags) {
    RunResult result = run(flags);
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.output, "");
    return result.error;
  };
  for (const char *mode : {"--evaluate", "--gradients=g", "--outputs=o"})
    EXPECT_THAT(refusal(validating({mode})), HasSubstr("change no weights"));
  const std::string all =
      refusal({"--validate-every", "2", "--keep-best", "loss", "--early-stop", "2", "--keep", "2"});
  for (const char *part :
       {"--validate-every needs --validate", "--keep-best needs --validate",
        "--early-stop needs --validate", "--keep-best needs --save", "--keep needs --save-every"})
    EXPECT_THAT(all, HasSubstr(part));
  for (const char *value : {"0", "-1", "epochs", "1.5"})
    EXPECT_THAT(refusal(validating({"--validate-every", value})),
                HasSubstr(std::string("--validate-every ") + value +
                          ": expected a whole number of steps of at least 1, or epoch"));
  EXPECT_THAT(refusal(validating({"--keep-best", "f1", "--save", saved})),
              HasSubstr("--keep-best f1: this program computes no such metric; expected loss"));
  EXPECT_THAT(refusal({"--validate", "x"}), HasSubstr("--validate x: expected NAME=FILE"));
  EXPECT_THAT(runHere(mtc_program, {"--resume", saved, "--export", "m.onnx", "--lr", "1"}).error,
              HasSubstr("this run only exports a checkpoint"));
}

TEST_F(Validation, OutputsNeverReplaceItsFiles) {
  auto refusal = [&](const Flags &flags) {
    RunResult result = run(validating(flags));
    EXPECT_EQ(result.status, 1);
    return result.error;
  };
  EXPECT_THAT(refusal({"--export", folder / "val-x.npy", "--force"}),
              HasSubstr("is the validation data of 'x'"));
  runWell(validating({"--steps", "4", "--save", saved, "--save-every", "2", "--keep", "2",
                      "--keep-best", "loss"}));
  for (const char *name : {"/best", "/step-2"}) {
    const std::string file = fileOf(saved + name);
    EXPECT_THAT(refusal({"--resume", saved, "--save", saved, "--export-weights", file}),
                HasSubstr("is part of the checkpoint in " + saved));
    EXPECT_THAT(refusal({"--resume", saved, "--save", saved, "--metrics",
                         saved + name + "/step-99-0.safetensors"}),
                HasSubstr("is a name of the checkpoints that --save writes there"));
  }
}

} // namespace
