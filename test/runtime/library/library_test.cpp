// Tests the C interface of libraries with the sample program: y = x · weightᵀ + bias, batch 4, 3
// features.
#include "runtime/abi/program.h"
#include "runtime/library/mtc_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::array<float, 12> x = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
constexpr std::array<float, 4> target = {1, 2, 3, 6};

/// A trainer that is destroyed at the end of the test.
struct Owned {
  explicit Owned(const mtc_model_options &options = {})
      : status(mtc_model_create(&options, &trainer)) {}
  ~Owned() { mtc_model_destroy(trainer); }
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;

  std::string message() const { return mtc_model_message(trainer); }
  mtc_model_step train() {
    mtc_model_step result;
    const void *inputs[] = {x.data(), target.data()};
    EXPECT_EQ(mtc_model_train(trainer, inputs, 4, &result), MTC_MODEL_OK) << message();
    return result;
  }
  /// Returns the elements of a weight of the model.
  std::vector<float> weight(const std::string &name) {
    for (uint32_t i = 0; i < mtc_model_weight_count(trainer); ++i) {
      const mtc_model_tensor tensor = mtc_model_weight(trainer, i);
      if (tensor.name != name)
        continue;
      std::vector<float> values(tensor.bytes / sizeof(float));
      EXPECT_EQ(mtc_model_read_weight(trainer, tensor.name, values.data(), tensor.bytes),
                MTC_MODEL_OK);
      return values;
    }
    ADD_FAILURE() << "no weight " << name;
    return {};
  }

  mtc_model_trainer *trainer = nullptr;
  mtc_model_status status;
};

class Library : public testing::Test {
protected:
  void SetUp() override {
    const auto *info = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::temp_directory_path() /
             (std::string("mtc-library-") + info->name() + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string path(const std::string &name) const { return folder / name; }

  std::filesystem::path folder;
};

TEST_F(Library, DescribesTheModel) {
  EXPECT_EQ(mtc_model_input_count(), 2u);
  EXPECT_STREQ(mtc_model_input(0).name, "x");
  EXPECT_EQ(mtc_model_input(0).bytes, sizeof x);
  EXPECT_EQ(mtc_model_input(0).dims[1], 3);
  EXPECT_FALSE(mtc_model_input_is_label(0));
  EXPECT_TRUE(mtc_model_input_is_label(1));
  EXPECT_EQ(mtc_model_input(2).name, nullptr);
  EXPECT_EQ(mtc_model_batch(), 4);
  EXPECT_EQ(mtc_model_batches_per_update(), 1);
  EXPECT_EQ(mtc_model_memory_bytes(0), static_cast<size_t>(mtc_program.arena_bytes));
}

TEST_F(Library, TrainsAndEvaluates) {
  Owned owned;
  ASSERT_EQ(owned.status, MTC_MODEL_OK) << owned.message();
  const double first = owned.train().loss;
  mtc_model_step last{};
  for (int i = 0; i < 20; ++i)
    last = owned.train();
  EXPECT_EQ(last.step, 21);
  EXPECT_TRUE(last.updated);
  EXPECT_FALSE(last.skipped);
  EXPECT_LT(last.loss, first);
  EXPECT_TRUE(std::isnan(last.loss_scale));
  EXPECT_EQ(mtc_model_steps(owned.trainer), 21);
  const void *inputs[] = {x.data(), target.data()};
  auto evaluated = [&](int64_t samples) {
    EXPECT_EQ(mtc_model_evaluate(owned.trainer, inputs, samples), MTC_MODEL_OK) << owned.message();
  };
  auto loss = [&] {
    std::vector<double> values(mtc_model_metric_count());
    EXPECT_EQ(mtc_model_finish_evaluation(owned.trainer, values.data()), MTC_MODEL_OK);
    return values.front();
  };
  EXPECT_STREQ(mtc_model_metric_name(0), "loss");
  EXPECT_EQ(mtc_model_metric_name(mtc_model_metric_count()), nullptr);
  evaluated(4);
  const double whole = loss();
  evaluated(1);
  const double part = loss();
  evaluated(4);
  evaluated(1);
  EXPECT_NEAR(loss(), (4 * whole + part) / 5, 1e-6 * whole);
  EXPECT_EQ(mtc_model_steps(owned.trainer), 21);
  EXPECT_EQ(mtc_model_evaluate(owned.trainer, inputs, 5), MTC_MODEL_INVALID);
}

TEST_F(Library, ReadsABatchFromItsOwnMemory) {
  Owned copied, own;
  auto *input = static_cast<float *>(mtc_model_input_buffer(own.trainer, 0));
  std::copy(x.begin(), x.end(), input);
  const void *inputs[] = {input, target.data()};
  mtc_model_step result;
  ASSERT_EQ(mtc_model_train(own.trainer, inputs, 4, &result), MTC_MODEL_OK) << own.message();
  EXPECT_EQ(result.loss, copied.train().loss);
  EXPECT_EQ(own.weight("fc.weight"), copied.weight("fc.weight"));
  EXPECT_EQ(mtc_model_input_buffer(own.trainer, 2), nullptr);
}

TEST_F(Library, UsesTheMemoryOfTheCaller) {
  std::vector<char> memory(mtc_model_memory_bytes(0) + MTC_MODEL_ALIGNMENT, 1);
  void *start = memory.data();
  size_t space = memory.size();
  ASSERT_TRUE(std::align(MTC_MODEL_ALIGNMENT, mtc_model_memory_bytes(0), start, space));
  mtc_model_options options = {};
  options.memory = start;
  options.memory_bytes = mtc_model_memory_bytes(0);
  Owned given(options), own;
  ASSERT_EQ(given.status, MTC_MODEL_OK) << given.message();
  EXPECT_EQ(given.train().loss, own.train().loss);
  EXPECT_EQ(given.train().loss, own.train().loss);
  options.memory_bytes -= 1;
  options.threads = 1000;
  const Owned little(options);
  EXPECT_EQ(little.status, MTC_MODEL_INVALID);
  EXPECT_NE(little.message().find("expected at least"), std::string::npos) << little.message();
  EXPECT_NE(little.message().find("threads 1000"), std::string::npos) << little.message();
  mtc_model_step result;
  const void *inputs[] = {x.data(), target.data()};
  EXPECT_EQ(mtc_model_train(little.trainer, inputs, 4, &result), MTC_MODEL_INVALID);
}

TEST_F(Library, SavesAndLoads) {
  Owned one, other;
  for (int i = 0; i < 3; ++i)
    one.train();
  ASSERT_EQ(mtc_model_save(one.trainer, path("saved").c_str()), MTC_MODEL_OK) << one.message();
  // The trainer replaces its own checkpoint, but not that of another run.
  EXPECT_EQ(mtc_model_save(other.trainer, path("saved").c_str()), MTC_MODEL_INVALID);
  EXPECT_EQ(mtc_model_save(one.trainer, path("saved").c_str()), MTC_MODEL_OK) << one.message();
  ASSERT_EQ(mtc_model_load(other.trainer, path("saved").c_str()), MTC_MODEL_OK) << other.message();
  EXPECT_EQ(mtc_model_steps(other.trainer), 3);
  EXPECT_EQ(one.train().loss, other.train().loss);
  EXPECT_EQ(one.weight("fc.weight"), other.weight("fc.weight"));
  EXPECT_EQ(mtc_model_load(one.trainer, path("nothing").c_str()), MTC_MODEL_INVALID);
  EXPECT_NE(one.message().find("nothing"), std::string::npos) << one.message();
  EXPECT_EQ(one.train().loss, other.train().loss);
}

TEST_F(Library, WritesWeights) {
  Owned one, other;
  one.train();
  const std::vector<float> weight = one.weight("fc.weight"), bias = one.weight("fc.bias");
  ASSERT_EQ(weight.size(), 3u);
  auto write = [&](const char *name, const std::vector<float> &values, size_t bytes) {
    return mtc_model_write_weight(other.trainer, name, values.data(), bytes);
  };
  EXPECT_EQ(write("fc.weight", weight, 12), MTC_MODEL_OK) << other.message();
  EXPECT_EQ(write("fc.bias", bias, 4), MTC_MODEL_OK) << other.message();
  EXPECT_EQ(other.weight("fc.weight"), weight);
  EXPECT_EQ(write("fc.weight", weight, 8), MTC_MODEL_INVALID);
  EXPECT_EQ(write("wait", weight, 12), MTC_MODEL_INVALID);
  EXPECT_NE(other.message().find("'wait'"), std::string::npos) << other.message();
  ASSERT_EQ(mtc_model_export_weights(other.trainer, path("weights.safetensors").c_str()),
            MTC_MODEL_OK);
  const std::string file = path("weights.safetensors");
  mtc_model_options options = {};
  options.weights = file.c_str();
  Owned third(options);
  ASSERT_EQ(third.status, MTC_MODEL_OK) << third.message();
  EXPECT_EQ(third.weight("fc.weight"), weight);
}

TEST_F(Library, OverridesTheLearningRate) {
  Owned owned;
  const double rate = mtc_model_learning_rate(owned.trainer);
  ASSERT_EQ(mtc_model_set_learning_rate(owned.trainer, 0), MTC_MODEL_OK);
  const std::vector<float> before = owned.weight("fc.weight");
  EXPECT_EQ(owned.train().learning_rate, 0);
  EXPECT_EQ(owned.weight("fc.weight"), before);
  // Checkpoints contain the learning rate.
  ASSERT_EQ(mtc_model_save(owned.trainer, path("saved").c_str()), MTC_MODEL_OK) << owned.message();
  Owned resumed;
  ASSERT_EQ(mtc_model_load(resumed.trainer, path("saved").c_str()), MTC_MODEL_OK);
  EXPECT_EQ(mtc_model_learning_rate(resumed.trainer), 0);
  ASSERT_EQ(mtc_model_set_learning_rate(owned.trainer, -1), MTC_MODEL_OK);
  EXPECT_EQ(mtc_model_learning_rate(owned.trainer), rate);
  EXPECT_EQ(mtc_model_set_learning_rate(owned.trainer, NAN), MTC_MODEL_INVALID);
}

TEST_F(Library, PassesWarningsToTheCaller) {
  const std::string file = path("more.safetensors");
  std::string header = R"({"fc.weight":{"dtype":"F32","shape":[1,3],"data_offsets":[0,12]},)"
                       R"("fc.bias":{"dtype":"F32","shape":[1],"data_offsets":[12,16]},)"
                       R"("other":{"dtype":"F32","shape":[1],"data_offsets":[16,20]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t bytes = header.size();
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char *>(&bytes), sizeof bytes);
  stream << header << std::string(20, '\0');
  stream.close();
  std::string warnings;
  mtc_model_options options = {};
  options.weights = file.c_str();
  options.warn = [](void *data, const char *message) {
    *static_cast<std::string *>(data) += message;
  };
  options.warn_data = &warnings;
  testing::internal::CaptureStderr();
  const Owned owned(options);
  EXPECT_EQ(owned.status, MTC_MODEL_OK) << owned.message();
  EXPECT_NE(warnings.find("other"), std::string::npos) << warnings;
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Library, ChoosesSamples) {
  Owned owned;
  std::array<int64_t, 4> samples{};
  int64_t chosen = 0, ahead = 1;
  auto choose = [&](int64_t count, mtc_model_last_batch last) {
    return mtc_model_choose_samples(owned.trainer, count, 0, last, ahead, samples.data(), &chosen);
  };
  ASSERT_EQ(choose(6, MTC_MODEL_LAST_BATCH_DEFAULT), MTC_MODEL_OK);
  EXPECT_EQ(samples, (std::array<int64_t, 4>{4, 5, 0, 1}));
  ahead = 0;
  ASSERT_EQ(choose(6, MTC_MODEL_LAST_BATCH_DEFAULT), MTC_MODEL_OK);
  EXPECT_EQ(samples, (std::array<int64_t, 4>{0, 1, 2, 3}));
  owned.train();
  ASSERT_EQ(choose(6, MTC_MODEL_LAST_BATCH_WRAP), MTC_MODEL_OK);
  EXPECT_EQ(samples, (std::array<int64_t, 4>{4, 5, 0, 1}));
  EXPECT_EQ(chosen, 4);
  ASSERT_EQ(choose(6, MTC_MODEL_LAST_BATCH_DROP), MTC_MODEL_OK);
  EXPECT_EQ(samples, (std::array<int64_t, 4>{0, 1, 2, 3}));
  EXPECT_EQ(choose(6, MTC_MODEL_LAST_BATCH_MASK), MTC_MODEL_INVALID);
  EXPECT_EQ(choose(0, MTC_MODEL_LAST_BATCH_WRAP), MTC_MODEL_INVALID);
}

TEST_F(Library, GroupsSamplesByLength) {
  Owned owned;
  const std::array<int64_t, 4> lengths = {3, 0, 2, 0}, tooLong = {3, 0, 4, 0},
                               ofTargets = {0, 1, 0, 2};
  int64_t updates = -1;
  auto group = [&](int64_t count, const std::array<int64_t, 4> &table, mtc_model_last_batch last) {
    return mtc_model_group_samples(owned.trainer, count, table.data(), 0, last, &updates);
  };
  ASSERT_EQ(group(2, lengths, MTC_MODEL_LAST_BATCH_DEFAULT), MTC_MODEL_OK) << owned.message();
  EXPECT_EQ(updates, 0) << "both samples need the only shape";
  std::array<int64_t, 4> samples{};
  uint32_t shape = 0;
  EXPECT_EQ(mtc_model_choose_grouped_samples(owned.trainer, 0, samples.data(), nullptr, &shape),
            MTC_MODEL_INVALID);
  EXPECT_EQ(group(2, tooLong, MTC_MODEL_LAST_BATCH_DEFAULT), MTC_MODEL_INVALID);
  EXPECT_NE(owned.message().find("row 1 has 4 values"), std::string::npos) << owned.message();
  EXPECT_EQ(group(2, ofTargets, MTC_MODEL_LAST_BATCH_DROP), MTC_MODEL_INVALID);
  EXPECT_NE(owned.message().find("row 1 has 2 values"), std::string::npos) << owned.message();
  EXPECT_EQ(group(2, lengths, MTC_MODEL_LAST_BATCH_WRAP), MTC_MODEL_INVALID);
  EXPECT_EQ(group(0, lengths, MTC_MODEL_LAST_BATCH_MASK), MTC_MODEL_INVALID);
}

TEST_F(Library, RejectsBatchesThatTheLossCannotUse) {
  Owned owned;
  const void *inputs[] = {x.data(), target.data()};
  for (const int64_t samples : {0, 3, 5})
    EXPECT_EQ(mtc_model_train(owned.trainer, inputs, samples, nullptr), MTC_MODEL_INVALID);
  EXPECT_NE(owned.message().find("--dim batch=5"), std::string::npos) << owned.message();
  EXPECT_EQ(owned.train().step, 1);
}

TEST_F(Library, ReportsARun) {
  Owned owned;
  const std::string save = path("saved"), metrics = path("m.jsonl"), events = path("events"),
                    report = path("run.html");
  std::string shown;
  mtc_model_run_options options = {};
  options.last_step = 20;
  options.save = save.c_str();
  options.keep_best = 1;
  options.best_metric = "own";
  options.is_higher_better = 1;
  options.early_stop = 2;
  options.metrics = metrics.c_str();
  options.tensorboard = events.c_str();
  options.report = report.c_str();
  options.progress = [](void *data, const char *text, int32_t) {
    *static_cast<std::string *>(data) += std::string(text) + "\n";
  };
  options.progress_data = &shown;
  ASSERT_EQ(mtc_model_begin_run(owned.trainer, &options), MTC_MODEL_OK) << owned.message();
  const void *inputs[] = {x.data(), target.data()};
  auto validate = [&](const char *name, double value) {
    EXPECT_EQ(mtc_model_evaluate(owned.trainer, inputs, 4), MTC_MODEL_OK) << owned.message();
    const mtc_model_metric own = {name, value};
    std::vector<double> values(mtc_model_metric_count());
    int32_t isBest = 0;
    EXPECT_EQ(mtc_model_finish_validation(owned.trainer, &own, 1, values.data(), &isBest),
              std::string(name) == "own" ? MTC_MODEL_OK : MTC_MODEL_INVALID)
        << owned.message();
    return std::pair(isBest, mtc_model_run_stops_early(owned.trainer));
  };
  owned.train();
  EXPECT_EQ(validate("own", 0.5), std::pair(1, 0));
  validate("other", 1);
  EXPECT_NE(owned.message().find("loss, other"), std::string::npos) << owned.message();
  owned.train();
  EXPECT_EQ(validate("own", 0.25), std::pair(0, 0));
  EXPECT_EQ(validate("own", NAN), std::pair(0, 1));
  // The folder is locked for others, and the trainer saves into it.
  const Owned other;
  EXPECT_EQ(mtc_model_save(other.trainer, save.c_str()), MTC_MODEL_INVALID);
  EXPECT_EQ(mtc_model_save(owned.trainer, save.c_str()), MTC_MODEL_OK) << owned.message();
  ASSERT_EQ(mtc_model_end_run(owned.trainer, MTC_MODEL_COMPLETED, nullptr), MTC_MODEL_OK);
  EXPECT_EQ(mtc_model_end_run(owned.trainer, MTC_MODEL_COMPLETED, nullptr), MTC_MODEL_INVALID);
  EXPECT_NE(shown.find("step 2/20  loss"), std::string::npos) << shown;
  EXPECT_NE(shown.find("own 0.5"), std::string::npos) << shown;
  EXPECT_NE(shown.find("stopped early after step 2"), std::string::npos) << shown;
  EXPECT_TRUE(std::filesystem::exists(report));
  EXPECT_FALSE(std::filesystem::is_empty(events));
  Owned best;
  ASSERT_EQ(mtc_model_load(best.trainer, (save + "/best").c_str()), MTC_MODEL_OK);
  EXPECT_EQ(mtc_model_steps(best.trainer), 1);
}

TEST_F(Library, RejectsMissingPointers) {
  Owned owned;
  const void *inputs[] = {x.data(), nullptr};
  EXPECT_EQ(mtc_model_train(owned.trainer, nullptr, 4, nullptr), MTC_MODEL_INVALID);
  EXPECT_EQ(mtc_model_train(owned.trainer, inputs, 4, nullptr), MTC_MODEL_INVALID);
  EXPECT_NE(owned.message().find("'target'"), std::string::npos) << owned.message();
  EXPECT_EQ(mtc_model_train(nullptr, inputs, 4, nullptr), MTC_MODEL_INVALID);
  EXPECT_EQ(mtc_model_infer(owned.trainer, inputs, 4, nullptr), MTC_MODEL_INVALID);
  EXPECT_EQ(mtc_model_create(nullptr, nullptr), MTC_MODEL_INVALID);
  EXPECT_EQ(owned.train().step, 1);
}

TEST_F(Library, RunsInSeveralThreads) {
  constexpr int steps = 50;
  auto trained = [&](int seed, const std::string &folder) {
    mtc_model_options options = {};
    options.seed = static_cast<uint64_t>(seed);
    Owned owned(options);
    for (int i = 0; i < steps; ++i)
      owned.train();
    EXPECT_EQ(mtc_model_save(owned.trainer, path(folder).c_str()), MTC_MODEL_OK) << owned.message();
    return owned.weight("fc.weight");
  };
  // The seed draws the initial weights: the two differ.
  const std::array<std::vector<float>, 2> expected = {trained(1, "first"), trained(2, "second")};
  EXPECT_NE(expected[0], expected[1]);
  std::array<std::vector<float>, 2> found;
  std::vector<std::thread> threads;
  threads.reserve(2);
  for (int i = 0; i < 2; ++i)
    threads.emplace_back(
        [&, i] { found[static_cast<size_t>(i)] = trained(i + 1, "thread-" + std::to_string(i)); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(found, expected);
}

} // namespace
