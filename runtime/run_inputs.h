// The inputs of a run, which are validated before memory is allocated.
#ifndef MTC_RUNTIME_RUN_INPUTS_H
#define MTC_RUNTIME_RUN_INPUTS_H

#include "runtime/collectives/ranks.h"
#include "runtime/loop/session.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/checkpoint_history.h"

#include <memory>
#include <optional>
#include <string>

namespace mtc::runtime {

struct RunInputs {
  std::optional<CheckpointFolder> checkpoints; ///< checkpoints of --save
  std::optional<CheckpointFolder> best;        ///< the checkpoint of --keep-best
  std::optional<CheckpointHistory> history;    ///< the checkpoints of --keep
  std::optional<Checkpoint> resumed;
  std::optional<Dataset> data;       ///< nullopt if the run only exports
  std::optional<Dataset> validation; ///< data of --validate
  TrainingState state;
  std::unique_ptr<const BatchOrder> order; ///< null unless the run trains or writes gradients

  /// Opens the inputs, and checks the outputs. Throws all errors as one failure.
  RunInputs(const MtcProgram &program, const std::string &programPath, const Options &options,
            const Ranks &ranks);

private:
  void openCheckpoints(const Options &options);
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_RUN_INPUTS_H
