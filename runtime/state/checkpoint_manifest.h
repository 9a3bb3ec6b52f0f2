// The manifest of a checkpoint: what its data file is and where training stood.
#ifndef MTC_RUNTIME_STATE_CHECKPOINT_MANIFEST_H
#define MTC_RUNTIME_STATE_CHECKPOINT_MANIFEST_H

#include "runtime/state/training_state.h"

#include <cstdint>
#include <map>
#include <string>

namespace mtc::runtime {

/// The manifest's name in the folder of a checkpoint.
inline constexpr const char *manifestName = "manifest.json";

struct CheckpointManifest {
  TrainingState state;
  std::string file;                             ///< beside the manifest: step-N-K.safetensors
  int64_t bytes = 0;                            ///< of that file
  std::map<std::string, std::string> checksums; ///< of its tensors and of frozen ones, by name
};

/// The name of a data file: of the `attempt`th one (from 0) that holds this step.
std::string checkpointFileName(int64_t step, int attempt);

/// Whether checkpoints give a file this name: that of a data file, or of a temporary file of one or
/// of a manifest.
bool isCheckpointFileName(const std::string &name);

/// JSON with a key `checksum`: that of the text without this key.
std::string writeManifest(const MtcProgram &program, const CheckpointManifest &manifest);

/// Reads `text`, which was found at `path`. A mistake of the user if it is no manifest, was altered
/// since it was written, is of another version, or belongs to another program.
CheckpointManifest parseManifest(const MtcProgram &program, const std::string &path,
                                 const std::string &text);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_CHECKPOINT_MANIFEST_H
