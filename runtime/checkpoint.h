// Checkpoints: a folder with the newest complete state of a training run.
#ifndef MTC_RUNTIME_CHECKPOINT_H
#define MTC_RUNTIME_CHECKPOINT_H

#include "runtime/session.h"

#include <string>

namespace mtc::runtime {

/// A folder holds `step-N-K.safetensors` (parameters, state, optimizer) and `manifest.json`, which
/// names it and says its size, checksums and the position of the run. The data file has a new name
/// each time and the manifest is replaced last, so that a kill at any moment leaves the previous
/// checkpoint complete; what no manifest names is then removed.
class CheckpointFolder {
public:
  /// To save to: the folder is made if it is missing, a mistake of the user if it cannot be.
  explicit CheckpointFolder(std::string folder);

  /// Faults of the system (disk full) leave the previous checkpoint as it was.
  void save(const MtcProgram &program, Device &device, const TrainingState &state);

private:
  std::string folder;
};

/// Reads the manifest of --resume: how far training had come. A mistake of the user if there is no
/// checkpoint, or one of another program.
TrainingState readTrainingState(const MtcProgram &program, const std::string &folder);

/// Fills parameters, state and optimizer state; every tensor is compared with its checksum.
void loadCheckpoint(const MtcProgram &program, Device &device, const std::string &folder);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CHECKPOINT_H
