// A trainer of the model, for programs that contain it as a library.
#ifndef MTC_RUNTIME_LIBRARY_TRAINER_H
#define MTC_RUNTIME_LIBRARY_TRAINER_H

#include "runtime/data/grouped_batches.h"
#include "runtime/data/last_batch.h"
#include "runtime/data/shapes.h"
#include "runtime/devices/device.h"
#include "runtime/library/caller_batch.h"
#include "runtime/library/run.h"
#include "runtime/loop/evaluation_metrics.h"
#include "runtime/loop/step_scalars.h"
#include "runtime/state/divergence.h"
#include "runtime/state/exported_tensor.h"
#include "runtime/state/initial_weights.h"
#include "runtime/state/training_state.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime {

struct TrainerOptions {
  WeightsChoice weights;
  uint64_t seed = 0;
  int64_t totalSteps = 0; ///< last step of the schedule; 0: unknown
  int threads = 0;        ///< 0: all cores, up to the number that memory was planned for
  bool infers = false;    ///< `infer` may be called
  std::string device, offloadFolder;
  void *memory = nullptr; ///< memory for the arena; null: the trainer allocates it
  size_t memoryBytes = 0;
};

/// Returns the size of the device arena of a trainer.
int64_t trainerBytes(const MtcProgram &program, bool infers);

/// The state of a training run: a device with weights and optimizer state. Functions throw a
/// Failure. All of them, and the destructor, may run on any thread, one at a time.
class Trainer {
public:
  using Inputs = const void *const *; ///< see CallerBatch

  struct Step {
    int64_t step = 0;
    bool updated = false, skipped = false;
    double loss, learningRate;
    std::optional<double> gradientNorm, lossScale;
  };
  Trainer(const MtcProgram &program, TrainerOptions options);
  ~Trainer();
  Trainer(const Trainer &) = delete;
  Trainer &operator=(const Trainer &) = delete;

  /// Selects the shape of the following batches, by its index in Shapes::all(); initially the last.
  void selectShape(size_t shape);
  /// Writes the samples of the training batch after the next `ahead` batches, out of `count`
  /// samples, in the order of a training run. `last` is nullopt for that of the checkpoint. Returns
  /// the number of samples that are not padding.
  int64_t chooseSamples(int64_t count, bool shuffle, std::optional<LastBatch> last, int64_t ahead,
                        int64_t *samples);
  /// Groups samples by the lengths of their inputs, a row of `lengths` for each sample; 0 for
  /// inputs without a sequence. `last` is nullopt for a smaller batch. Returns the number of
  /// updates of an epoch; 0 if all samples need the same shape, and are not grouped.
  int64_t groupSamples(int64_t count, const int64_t *lengths, bool shuffle,
                       std::optional<LastBatch> last);
  struct GroupedChoice {
    int64_t samples; ///< that are not padding
    uint32_t shape;
  };
  /// Writes the samples of the training batch after the next `ahead` batches, out of the grouped
  /// ones. There is space for the largest batch of a shape.
  GroupedChoice chooseGroupedSamples(int64_t ahead, int64_t *samples) const;
  /// Returns the memory that the next batch is read from; null if there is no such input.
  char *inputBuffer(uint32_t input);
  /// Runs a micro-step, and the update after the last micro-step of a step.
  Step train(Inputs inputs, int64_t samples);
  /// Evaluates the first `samples` samples of a batch and adds them to the evaluation.
  void evaluate(Inputs inputs, int64_t samples);
  /// Returns the program's metrics over the evaluated batches, in the order of `allMetrics`, and
  /// begins a new evaluation.
  std::vector<double> finishEvaluation();
  /// Computes the outputs of a batch; outputs with a null pointer are skipped.
  void infer(Inputs inputs, int64_t samples, void *const *outputs);

  /// Begins a run, which the following calls of `train` report to. Ends the previous run without a
  /// report of its end.
  void beginRun(RunOptions options);
  struct Validation {
    std::vector<double> values; ///< as those of finishEvaluation
    bool isBest;
  };
  /// Ends an evaluation as `finishEvaluation` does, and reports it with further metrics as a
  /// validation of the run. The best checkpoint is saved if it is kept.
  Validation finishValidation(std::vector<std::pair<std::string, double>> metrics);
  /// Returns whether the run ends for want of an improvement.
  bool stopsEarly() const { return run && run->stopsEarly(); }
  void endRun(RunOutcome outcome, const std::string &message);

  int64_t steps() const { return state.step; }
  double nextLearningRate() const;
  /// Replaces the schedule by a constant rate; nullopt restores the compiled schedule.
  void setLearningRate(std::optional<double> rate);

  /// Returns the current value of a setting.
  double setting(const std::string &name) const;
  /// Sets a setting for later batches.
  void set(const std::string &name, double value);

  void save(const std::string &folder);
  void load(const std::string &folder);
  /// Loads a checkpoint to continue its run. Samples whose groups by length have another number of
  /// updates in an epoch are refused, once.
  void resume(const std::string &folder);

  /// The tensors of the module's state_dict: those of variables, then buffers.
  struct Weight {
    std::string name;
    uint32_t type; ///< MtcType
    std::vector<int64_t> dims;
    int64_t bytes;
  };
  const std::vector<Weight> &weights() const { return weightList; }
  void readWeight(const std::string &name, char *to, size_t bytes);
  void writeWeight(const std::string &name, const char *from, size_t bytes);
  void exportWeights(const std::string &file);
  void exportModel(const std::string &file);

private:
  /// Runs an action that uses the device.
  template <typename Action> void onDevice(const Action &action) { device->onThisThread(action); }
  size_t findWeight(const std::string &name, size_t bytes) const;
  void writePiece(const ModuleTensor::Piece &piece, uint32_t type,
                  const std::vector<char> &elements);
  void refreshCopies();
  void resetAccumulation();
  const FiniteVariables &finiteVariables();
  void listWeights();
  void checkUsable() const;
  void checkTrains() const;
  void checkSchedule() const;
  void extendSchedule(int64_t lastStep);
  bool isOwn(const std::string &folder) const;
  bool holdsRest(int64_t count) const;
  BatchOrigin originOfSamples(int64_t count) const;
  Batch batchAfter(const BatchOrder &order, int64_t ahead) const;
  void beginGroups(int64_t updates);
  Run &currentRun();
  void load(Inputs inputs, int64_t samples, BatchUse use);
  void warnOfPadding(int64_t samples, BatchUse use);
  StepScalars scalars() const { return {*shaped, *device}; }
  Step update(double rate);

  const MtcProgram &program;
  Shapes shapes;
  const MtcProgram *shaped = &shapes.all().back(); ///< tables of the selected shape
  TrainerOptions options;
  TrainingState state;
  std::optional<InitialWeights> initial;
  std::unique_ptr<Device> device;
  const std::vector<char *> *buffers = nullptr; ///< of the next batch; null until requested
  std::vector<ExportedTensor> tensors;          ///< of `weightList`
  std::vector<Weight> weightList;
  int64_t microStep = 0; ///< completed micro-steps of the next step
  Step last{};
  MetricSums evaluation; ///< of the batches evaluated so far
  int64_t evaluatedSamples = 0;
  std::chrono::steady_clock::time_point evaluationBegin;
  std::optional<FiniteVariables> finite; ///< nullopt until the next use
  bool copiesAreStale = false;           ///< a weight was written after its copies
  bool isBroken = false;                 ///< a failed computation left the weights undefined
  bool isWarnedOfPadding = false;
  bool isResumed = false;                ///< no samples were chosen since a run was resumed
  std::set<std::string> ownFolders;      ///< real paths of folders with the trainer's checkpoints
  std::optional<RowShapes> sampleShapes; ///< of the grouped samples
  std::optional<GroupedBatches> groups;
  std::optional<Run> run; ///< nullopt unless a run has begun
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LIBRARY_TRAINER_H
