// The functions of mtc_model.h. The compiler replaces the prefix `mtc_model` by the library's name.
#include "runtime/data/label_fill.h"
#include "runtime/data/last_batch.h"
#include "runtime/data/shapes.h"
#include "runtime/library/guarded_call.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace mtc::runtime;

#define IS_SAME_CODE(name, code, ...) static_assert(MTC_MODEL_##name == code);
MTC_ELEMENT_TYPES(IS_SAME_CODE, IS_SAME_CODE)
#undef IS_SAME_CODE
static_assert(MTC_MODEL_ALIGNMENT == MTC_ALIGNMENT);

namespace {

/// Returns the folder of the file that contains this code: the library, or the program that it is
/// linked into.
std::string libraryFolder() {
  std::string file = "/proc/self/exe";
  if (Dl_info info; dladdr(reinterpret_cast<const void *>(&mtc_model_create), &info) &&
                    info.dli_fname && std::string(info.dli_fname).find('/') != std::string::npos)
    file = info.dli_fname;
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(file.c_str(), nullptr),
                                                         &std::free);
  const std::string path = real ? real.get() : file;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

mtc_model_tensor describe(const MtcTensor &tensor) {
  return {tensor.name, static_cast<mtc_model_type>(tensor.type), tensor.rank, tensor.dims,
          static_cast<size_t>(tensor.bytes)};
}

constexpr mtc_model_tensor noTensor = {nullptr, MTC_MODEL_F32, 0, nullptr, 0};
constexpr double absent = std::numeric_limits<double>::quiet_NaN();

std::string textOf(const char *text) { return text ? text : ""; }

} // namespace

const char *mtc_model_name(void) { return mtc_program.model_name; }

const char *mtc_model_version(void) { return mtc_program.compiler_version; }

size_t mtc_model_memory_bytes(uint32_t uses) {
  return static_cast<size_t>(trainerBytes(mtc_program, uses & MTC_MODEL_INFER));
}

static const Shapes &shapes() {
  static const Shapes all(mtc_program);
  return all;
}

uint32_t mtc_model_shape_count(void) { return static_cast<uint32_t>(shapes().all().size()); }

mtc_model_tensor mtc_model_shape_input(uint32_t shape, uint32_t index) {
  return shape < mtc_model_shape_count() && index < mtc_program.input_count
             ? describe(shapes().all()[shape].inputs[index].tensor)
             : noTensor;
}

mtc_model_tensor mtc_model_shape_output(uint32_t shape, uint32_t index) {
  return shape < mtc_model_shape_count() && index < mtc_program.output_count
             ? describe(shapes().all()[shape].outputs[index])
             : noTensor;
}

int64_t mtc_model_shape_batch(uint32_t shape) {
  return shape < mtc_model_shape_count() ? shapes().all()[shape].batch : 0;
}

uint32_t mtc_model_input_count(void) { return mtc_program.input_count; }

mtc_model_tensor mtc_model_input(uint32_t index) {
  return mtc_model_shape_input(mtc_model_shape_count() - 1, index);
}

int32_t mtc_model_input_is_label(uint32_t index) {
  return index < mtc_program.input_count && mtc_program.inputs[index].is_label;
}

int32_t mtc_model_input_is_shared(uint32_t index) {
  return index < mtc_program.input_count && mtc_program.inputs[index].is_whole;
}

int32_t mtc_model_input_next_of(uint32_t index) {
  return index < mtc_program.input_count ? mtc_program.inputs[index].shifted_from : -1;
}

int64_t mtc_model_input_padding(uint32_t index) {
  return index < mtc_program.input_count && canIgnore(mtc_program.inputs[index])
             ? mtc_program.inputs[index].ignored
             : 0;
}

uint32_t mtc_model_output_count(void) { return mtc_program.output_count; }

mtc_model_tensor mtc_model_output(uint32_t index) {
  return mtc_model_shape_output(mtc_model_shape_count() - 1, index);
}

int64_t mtc_model_batch(void) { return shapes().all().back().batch; }

int64_t mtc_model_batches_per_update(void) { return mtc_program.accumulation.micro_steps; }

int32_t mtc_model_trains_smaller_batches(void) { return canMask(mtc_program); }

mtc_model_status mtc_model_create(const mtc_model_options *options, mtc_model_trainer **trainer) {
  if (!trainer)
    return MTC_MODEL_INVALID;
  auto *self = new (std::nothrow) mtc_model_trainer;
  *trainer = self;
  if (!self)
    return MTC_MODEL_FAULT;
  const mtc_model_options chosen = options ? *options : mtc_model_options{};
  self->warn = chosen.warn;
  self->warnData = chosen.warn_data;
  return guard(self, [&] {
    if (mtc_program.abi_version != MTC_ABI_VERSION)
      systemError("the library was compiled for version ", mtc_program.abi_version,
                  " of the runtime, but linked with version ", MTC_ABI_VERSION);
    if (chosen.uses & ~uint32_t{MTC_MODEL_INFER})
      userError("uses ", chosen.uses, ": unknown value; expected 0 or ", int{MTC_MODEL_INFER});
    TrainerOptions given;
    given.weights = {textOf(chosen.weights), libraryFolder(), /*threads=*/1, /*isQuiet=*/true};
    given.seed = chosen.seed;
    given.totalSteps = chosen.total_steps;
    given.threads = chosen.threads;
    given.infers = chosen.uses & MTC_MODEL_INFER;
    given.device = textOf(chosen.device);
    given.offloadFolder = textOf(chosen.offload_folder);
    given.memory = chosen.memory;
    given.memoryBytes = chosen.memory_bytes;
    self->trainer.emplace(mtc_program, std::move(given));
  });
}

void mtc_model_destroy(mtc_model_trainer *trainer) {
  if (!trainer)
    return;
  static_cast<void>(guard(trainer, [&] { trainer->trainer.reset(); }));
  delete trainer;
}

const char *mtc_model_message(const mtc_model_trainer *trainer) {
  return trainer ? trainer->message.c_str() : "out of memory";
}

mtc_model_status mtc_model_select_shape(mtc_model_trainer *trainer, uint32_t shape) {
  return guardTrainer(trainer, [&](Trainer &self) { self.selectShape(shape); });
}

static std::optional<LastBatch> lastBatchOf(mtc_model_last_batch value) {
  switch (value) {
  case MTC_MODEL_LAST_BATCH_DEFAULT:
    return std::nullopt;
  case MTC_MODEL_LAST_BATCH_WRAP:
    return LastBatch::Wrap;
  case MTC_MODEL_LAST_BATCH_DROP:
    return LastBatch::Drop;
  case MTC_MODEL_LAST_BATCH_MASK:
    return LastBatch::Mask;
  }
  userError("last batch ", static_cast<int>(value), ": expected a value of the enumeration");
}

mtc_model_status mtc_model_choose_samples(mtc_model_trainer *trainer, int64_t count,
                                          int32_t shuffle, mtc_model_last_batch last, int64_t ahead,
                                          int64_t *samples, int64_t *chosen) {
  return guardTrainer(trainer, [&](Trainer &self) {
    const int64_t found = self.chooseSamples(count, shuffle != 0, lastBatchOf(last), ahead,
                                             require(samples, "samples"));
    if (chosen)
      *chosen = found;
  });
}

mtc_model_status mtc_model_group_samples(mtc_model_trainer *trainer, int64_t count,
                                         const int64_t *lengths, int32_t shuffle,
                                         mtc_model_last_batch last, int64_t *updates) {
  return guardTrainer(trainer, [&](Trainer &self) {
    *require(updates, "updates") =
        self.groupSamples(count, require(lengths, "lengths"), shuffle != 0, lastBatchOf(last));
  });
}

mtc_model_status mtc_model_choose_grouped_samples(mtc_model_trainer *trainer, int64_t ahead,
                                                  int64_t *samples, int64_t *chosen,
                                                  uint32_t *shape) {
  return guardTrainer(trainer, [&](Trainer &self) {
    const Trainer::GroupedChoice found =
        self.chooseGroupedSamples(ahead, require(samples, "samples"));
    *require(shape, "shape") = found.shape;
    if (chosen)
      *chosen = found.samples;
  });
}

void *mtc_model_input_buffer(mtc_model_trainer *trainer, uint32_t index) {
  void *buffer = nullptr;
  static_cast<void>(guardTrainer(trainer, [&](Trainer &self) {
    if (index >= mtc_program.input_count)
      userError("input ", index, ": expected a number below ", mtc_program.input_count);
    buffer = self.inputBuffer(index);
  }));
  return buffer;
}

mtc_model_status mtc_model_train(mtc_model_trainer *trainer, const void *const *inputs,
                                 int64_t samples, mtc_model_step *result) {
  return guardTrainer(trainer, [&](Trainer &self) {
    const Trainer::Step step = self.train(require(inputs, "inputs"), samples);
    if (result)
      *result = {step.step,
                 step.updated,
                 step.skipped,
                 step.loss,
                 step.learningRate,
                 step.gradientNorm.value_or(absent),
                 step.lossScale.value_or(absent)};
  });
}

/// Returns the metrics that the program computes.
static std::vector<const MetricKind *> metrics() {
  std::vector<const MetricKind *> computed;
  for (const MetricKind &metric : allMetrics())
    if (metric.isComputed(mtc_program))
      computed.push_back(&metric);
  return computed;
}

uint32_t mtc_model_metric_count(void) { return static_cast<uint32_t>(metrics().size()); }

const char *mtc_model_metric_name(uint32_t index) {
  const std::vector<const MetricKind *> computed = metrics();
  return index < computed.size() ? computed[index]->name : nullptr;
}

mtc_model_status mtc_model_evaluate(mtc_model_trainer *trainer, const void *const *inputs,
                                    int64_t samples) {
  return guardTrainer(trainer,
                      [&](Trainer &self) { self.evaluate(require(inputs, "inputs"), samples); });
}

mtc_model_status mtc_model_finish_evaluation(mtc_model_trainer *trainer, double *values) {
  return guardTrainer(trainer, [&](Trainer &self) {
    const std::vector<double> found = self.finishEvaluation();
    std::copy(found.begin(), found.end(), require(values, "values"));
  });
}

mtc_model_status mtc_model_infer(mtc_model_trainer *trainer, const void *const *inputs,
                                 int64_t samples, void *const *outputs) {
  return guardTrainer(trainer, [&](Trainer &self) {
    self.infer(require(inputs, "inputs"), samples, require(outputs, "outputs"));
  });
}

static RunOptions optionsOf(const mtc_model_run_options &given) {
  RunOptions options;
  options.lastStep = given.last_step;
  options.samplesPerEpoch = given.samples_per_epoch;
  options.save = textOf(given.save);
  options.keepsBest = given.keep_best != 0;
  if (given.best_metric)
    options.best = {given.best_metric, given.is_higher_better != 0};
  options.earlyStop = given.early_stop;
  options.reports = {textOf(given.metrics), textOf(given.tensorboard), textOf(given.report)};
  if (given.progress)
    options.showProgress = [show = given.progress,
                            data = given.progress_data](const std::string &text, bool isBar) {
      show(data, printable(text).c_str(), isBar);
    };
  options.columns = given.progress_columns;
  return options;
}

mtc_model_status mtc_model_begin_run(mtc_model_trainer *trainer,
                                     const mtc_model_run_options *options) {
  return guardTrainer(trainer, [&](Trainer &self) {
    self.beginRun(optionsOf(options ? *options : mtc_model_run_options{}));
  });
}

mtc_model_status mtc_model_finish_validation(mtc_model_trainer *trainer,
                                             const mtc_model_metric *metrics, uint32_t count,
                                             double *values, int32_t *best) {
  return guardTrainer(trainer, [&](Trainer &self) {
    std::vector<std::pair<std::string, double>> own;
    own.reserve(count);
    for (uint32_t i = 0; i < count; ++i)
      own.emplace_back(require(require(metrics, "metrics")[i].name, "name"), metrics[i].value);
    const Trainer::Validation found = self.finishValidation(std::move(own));
    std::copy(found.values.begin(), found.values.end(), require(values, "values"));
    if (best)
      *best = found.isBest;
  });
}

int32_t mtc_model_run_stops_early(const mtc_model_trainer *trainer) {
  return trainer && trainer->trainer && trainer->trainer->stopsEarly();
}

mtc_model_status mtc_model_end_run(mtc_model_trainer *trainer, mtc_model_outcome outcome,
                                   const char *message) {
  return guardTrainer(trainer, [&](Trainer &self) {
    const RunOutcome found = outcome == MTC_MODEL_COMPLETED ? RunOutcome::Completed
                             : outcome == MTC_MODEL_STOPPED ? RunOutcome::Stopped
                                                            : RunOutcome::Failed;
    self.endRun(found, textOf(message));
  });
}

int64_t mtc_model_steps(const mtc_model_trainer *trainer) {
  return trainer && trainer->trainer ? trainer->trainer->steps() : 0;
}

double mtc_model_learning_rate(const mtc_model_trainer *trainer) {
  return trainer && trainer->trainer ? trainer->trainer->nextLearningRate() : absent;
}

mtc_model_status mtc_model_set_learning_rate(mtc_model_trainer *trainer, double rate) {
  return guardTrainer(trainer, [&](Trainer &self) {
    if (!std::isfinite(rate))
      userError("learning rate ", rate, ": expected a finite number");
    self.setLearningRate(rate < 0 ? std::nullopt : std::optional(rate));
  });
}

uint32_t mtc_model_setting_count(void) {
  return static_cast<uint32_t>(distinctSettings(mtc_program).size());
}

mtc_model_setting_info mtc_model_setting(uint32_t index) {
  const std::vector<const MtcSetting *> all = distinctSettings(mtc_program);
  if (index >= all.size())
    return {};
  return {all[index]->name, all[index]->help, all[index]->value};
}

mtc_model_status mtc_model_get_setting(mtc_model_trainer *trainer, const char *name,
                                       double *value) {
  return guardTrainer(trainer, [&](Trainer &self) {
    *require(value, "value") = self.setting(require(name, "name"));
  });
}

mtc_model_status mtc_model_set_setting(mtc_model_trainer *trainer, const char *name, double value) {
  return guardTrainer(trainer, [&](Trainer &self) { self.set(require(name, "name"), value); });
}

mtc_model_status mtc_model_save(mtc_model_trainer *trainer, const char *folder) {
  return guardTrainer(trainer, [&](Trainer &self) { self.save(require(folder, "folder")); });
}

mtc_model_status mtc_model_load(mtc_model_trainer *trainer, const char *folder) {
  return guardTrainer(trainer, [&](Trainer &self) { self.load(require(folder, "folder")); });
}

mtc_model_status mtc_model_resume(mtc_model_trainer *trainer, const char *folder) {
  return guardTrainer(trainer, [&](Trainer &self) { self.resume(require(folder, "folder")); });
}

uint32_t mtc_model_weight_count(const mtc_model_trainer *trainer) {
  return trainer && trainer->trainer ? static_cast<uint32_t>(trainer->trainer->weights().size())
                                     : 0;
}

mtc_model_tensor mtc_model_weight(const mtc_model_trainer *trainer, uint32_t index) {
  if (index >= mtc_model_weight_count(trainer))
    return noTensor;
  const Trainer::Weight &weight = trainer->trainer->weights()[index];
  return {weight.name.c_str(), static_cast<mtc_model_type>(weight.type),
          static_cast<uint32_t>(weight.dims.size()), weight.dims.data(),
          static_cast<size_t>(weight.bytes)};
}

mtc_model_status mtc_model_read_weight(mtc_model_trainer *trainer, const char *name, void *data,
                                       size_t bytes) {
  return guardTrainer(trainer, [&](Trainer &self) {
    self.readWeight(require(name, "name"), static_cast<char *>(require(data, "data")), bytes);
  });
}

mtc_model_status mtc_model_write_weight(mtc_model_trainer *trainer, const char *name,
                                        const void *data, size_t bytes) {
  return guardTrainer(trainer, [&](Trainer &self) {
    self.writeWeight(require(name, "name"), static_cast<const char *>(require(data, "data")),
                     bytes);
  });
}

mtc_model_status mtc_model_export_weights(mtc_model_trainer *trainer, const char *file) {
  return guardTrainer(trainer, [&](Trainer &self) { self.exportWeights(require(file, "file")); });
}

mtc_model_status mtc_model_export_onnx(mtc_model_trainer *trainer, const char *file) {
  return guardTrainer(trainer, [&](Trainer &self) { self.exportModel(require(file, "file")); });
}
