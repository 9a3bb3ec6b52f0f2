// The produced program's command line.
#ifndef MTC_RUNTIME_LOOP_OPTIONS_H
#define MTC_RUNTIME_LOOP_OPTIONS_H

#include "runtime/abi/program.h"
#include "runtime/data/last_batch.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime {

struct Options {
  std::vector<std::pair<std::string, std::string>> data; ///< NAME, FILE
  std::optional<int64_t> steps, epochs, scheduleSteps;
  std::optional<bool> shuffle;
  std::optional<LastBatch> lastBatch;
  std::optional<uint64_t> seed;
  std::string metrics, gradients, outputs, save, resume, exportTo, exportTrainingTo,
      exportWeightsTo, exportAdaptersTo, weights, memoryReport, profile,
      profileSummary; ///< the file; may be empty
  std::string device; ///< as --device has it
  std::string offloadFolder;
  bool summarizes = false, evaluate = false, quiet = false, version = false;
  bool help = false, helpsWithAll = false; ///< --help-all
  bool useEma = false;                     ///< averages in the place of weights
  bool overwrites = false;                 ///< a checkpoint that the run does not go on from
  bool isForced = false;                   ///< outputs replace files that mtc did not write
  bool continuesOnNan = false;             ///< --on-nan continue
  int64_t saveEvery = 0;
  int threads = 0; ///< resolved: at least 1 after parsing

  /// Whether parameters are to be updated.
  bool trains() const;
  /// Whether the model, its weights or its adapters are to be written at the end.
  bool exports() const {
    return !exportTo.empty() || !exportTrainingTo.empty() || !exportWeightsTo.empty() ||
           !exportAdaptersTo.empty();
  }
};

/// Reads the arguments (without the program's name). All mistakes are reported in one failure.
Options parseOptions(const MtcProgram &program, const std::vector<std::string> &arguments);

/// The text of --help, or of --help-all, with the program's inputs, outputs, loss and optimizer.
std::string helpText(const MtcProgram &program, const std::string &programName, bool showsAll);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_OPTIONS_H
