// Trains two classifiers of digits with different seeds at the same time, each in its own thread.
//
//   train_cpp DATA EPOCHS WEIGHTS-
#include "digits.h"
#include "digits_data.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

/// A trainer that throws the messages of failed calls.
class Trainer {
public:
  explicit Trainer(const digits_options &options) {
    digits_trainer *created = nullptr;
    const digits_status status = digits_create(&options, &created);
    trainer.reset(created);
    check(status);
  }

  digits_step train(const float *x, const int64_t *labels) {
    // Fill the trainer's own memory: this batch is not copied again.
    auto *input = static_cast<float *>(digits_input_buffer(trainer.get(), 0));
    std::copy_n(x, digits_batch() * pixels, input);
    const void *inputs[] = {input, labels};
    digits_step step;
    check(digits_train(trainer.get(), inputs, digits_batch(), &step));
    return step;
  }

  void exportWeights(const std::string &file) {
    check(digits_export_weights(trainer.get(), file.c_str()));
  }

private:
  void check(digits_status status) const {
    if (status != DIGITS_OK)
      throw std::runtime_error(digits_message(trainer.get()));
  }

  std::unique_ptr<digits_trainer, void (*)(digits_trainer *)> trainer{nullptr, digits_destroy};
};

} // namespace

int main(int count, char **arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: train_cpp DATA EPOCHS WEIGHTS-\n");
    return 1;
  }
  const std::unique_ptr<float, void (*)(void *)> x{
      static_cast<float *>(
          read_npy(arguments[1], "train_x.npy", sizeof(float) * trainSamples * pixels)),
      std::free};
  const std::unique_ptr<int64_t, void (*)(void *)> labels{
      static_cast<int64_t *>(
          read_npy(arguments[1], "train_labels.npy", sizeof(int64_t) * trainSamples)),
      std::free};
  const int epochs = std::stoi(arguments[2]);
  std::vector<std::string> messages(2);
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 2; ++seed)
    threads.emplace_back([&, seed] {
      try {
        digits_options options{};
        options.seed = seed;
        options.threads = 1;
        Trainer trainer(options);
        digits_step step{};
        for (int epoch = 0; epoch < epochs; ++epoch)
          for (int64_t first = 0; first + digits_batch() <= trainSamples; first += digits_batch())
            step = trainer.train(x.get() + first * pixels, labels.get() + first);
        trainer.exportWeights(arguments[3] + std::to_string(seed) + ".safetensors");
        messages[seed] = "loss " + std::to_string(step.loss);
      } catch (const std::exception &error) {
        messages[seed] = std::string("error: ") + error.what();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (uint64_t seed = 0; seed < 2; ++seed)
    std::printf("seed %d  %s\n", static_cast<int>(seed), messages[seed].c_str());
  return messages[0].starts_with("error") || messages[1].starts_with("error");
}
