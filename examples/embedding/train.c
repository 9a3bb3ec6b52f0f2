// Trains the digits classifier for some epochs, and reports its accuracy.
//
//   train_c DATA EPOCHS WEIGHTS.safetensors
#include "digits.h"
#include "digits_data.h"

// Ends the program with the trainer's message.
static void check(digits_status status, const digits_trainer *trainer) {
  if (status == DIGITS_OK)
    return;
  fprintf(stderr, "error: %s\n", digits_message(trainer));
  exit(1);
}

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: train_c DATA EPOCHS WEIGHTS.safetensors\n");
    return 1;
  }
  const char *folder = arguments[1];
  float *x = read_npy(folder, "train_x.npy", sizeof(float) * trainSamples * pixels);
  int64_t *labels = read_npy(folder, "train_labels.npy", sizeof(int64_t) * trainSamples);
  float *test = read_npy(folder, "test_x.npy", sizeof(float) * testSamples * pixels);
  int64_t *expected = read_npy(folder, "test_labels.npy", sizeof(int64_t) * testSamples);

  // The trainer's memory belongs to this program.
  digits_options options = {0};
  options.memory_bytes = digits_memory_bytes(0);
  options.memory = aligned_alloc(DIGITS_ALIGNMENT, (options.memory_bytes + 63) / 64 * 64);
  digits_trainer *trainer;
  digits_status created = digits_create(&options, &trainer);
  check(created, trainer);

  const int64_t batch = digits_batch();
  digits_step step = {0};
  for (int epoch = 0; epoch < atoi(arguments[2]); ++epoch)
    for (int64_t first = 0; first + batch <= trainSamples; first += batch) {
      const void *inputs[] = {x + first * pixels, labels + first}; // without a shuffle
      check(digits_train(trainer, inputs, batch, &step), trainer);
    }
  printf("step %lld  loss %.9g\n", (long long)step.step, step.loss);

  for (int64_t first = 0; first + batch <= testSamples; first += batch) {
    const void *inputs[] = {test + first * pixels, expected + first};
    check(digits_evaluate(trainer, inputs, batch), trainer);
  }
  double metrics[16]; // digits_metric_count() of them
  check(digits_finish_evaluation(trainer, metrics), trainer);
  for (uint32_t i = 0; i < digits_metric_count(); ++i)
    printf("%s %.4f\n", digits_metric_name(i), metrics[i]);
  check(digits_export_weights(trainer, arguments[3]), trainer);

  digits_destroy(trainer);
  free(options.memory);
  free(x);
  free(labels);
  free(test);
  free(expected);
  return 0;
}
