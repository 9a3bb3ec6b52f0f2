// The command line of a compiled program.
#ifndef MTC_RUNTIME_LOOP_OPTIONS_H
#define MTC_RUNTIME_LOOP_OPTIONS_H

#include "runtime/abi/program.h"
#include "runtime/data/augmentation.h"
#include "runtime/data/last_batch.h"
#include "runtime/data/normalization.h"
#include "runtime/loop/schedule_override.h"
#include "runtime/state/adapters.h"
#include "runtime/state/export_weights.h"
#include "runtime/state/settings.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime {

struct Options {
  std::vector<std::pair<std::string, std::string>> data, validate; ///< NAME, FILE
  Normalizations normalizations;                                   ///< of --scale, --mean and --std
  Augmentations augmentations;                                     ///< of --augment
  int readThreads = 0;                                             ///< at least 1 after parsing
  std::string sampleWeights;                                       ///< the file; may be empty
  bool balancesClasses = false;
  std::optional<int64_t> steps, epochs, scheduleSteps;
  std::optional<bool> shuffle;
  std::optional<bool> groupsRows; ///< --bucket-by
  std::optional<LastBatch> lastBatch;
  std::optional<uint64_t> seed;
  std::string metrics, tensorboard, report, gradients, outputs, save, resume, exportTo,
      exportTrainingTo, exportWeightsTo, exportAdaptersTo, weights, memoryReport, profile,
      profileSummary;          ///< the file; may be empty
  WeightsFormat weightsFormat; ///< for --export-weights
  AdapterModel adapterModel;   ///< for --export-adapters
  std::string device;          ///< the value of --device
  std::string offloadFolder;
  bool summarizes = false, evaluate = false, quiet = false, version = false, describes = false;
  bool help = false, helpsWithAll = false; ///< --help-all
  bool useEma = false;                     ///< replace weights by their averages
  bool overwrites = false;     ///< overwrite a checkpoint that the run does not resume from
  bool isForced = false;       ///< overwrite files that mtc did not write
  bool continuesOnNan = false; ///< --on-nan continue
  ScheduleFlags schedule;
  Settings settings; ///< flags of the program's settings
  int64_t saveEvery = 0, keep = 0;
  int64_t validateEvery = 0; ///< number of steps; 0: an epoch
  bool isValidateEveryGiven = false;
  std::string keepBest;  ///< the metric; "" if no best checkpoint is kept
  int64_t earlyStop = 0; ///< validations without improvement; 0: no limit
  int threads = 0;       ///< at least 1 after parsing
  bool isThreadsGiven = false;
  double timeout = 60; ///< seconds after which a silent rank ends the run

  /// Returns whether the run updates parameters.
  bool trains() const;
  /// Returns whether the run reads the data of --data.
  bool readsData() const { return trains() || evaluate || !gradients.empty() || !outputs.empty(); }
  /// Returns whether the run writes the model, its weights or its adapters at the end.
  bool exports() const {
    return !exportTo.empty() || !exportTrainingTo.empty() || !exportWeightsTo.empty() ||
           !exportAdaptersTo.empty();
  }
};

/// Parses the arguments (without the program's name). Reports all errors in one failure.
Options parseOptions(const MtcProgram &program, const std::vector<std::string> &arguments);

/// Returns the files that a value of --data names; none if the value is invalid.
std::vector<std::string> pathsOfData(const std::string &value);

/// Returns the flags and metrics of a program, for tools: JSON.
std::string describeProgramAsJson(const MtcProgram &program);

/// Returns the text of --help, or of --help-all, with the program's inputs, outputs, loss and
/// optimizer.
std::string helpText(const MtcProgram &program, const std::string &programName, bool showsAll);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_OPTIONS_H
