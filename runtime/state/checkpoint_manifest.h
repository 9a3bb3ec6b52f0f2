// The manifest of a checkpoint: its data file and the training state.
#ifndef MTC_RUNTIME_STATE_CHECKPOINT_MANIFEST_H
#define MTC_RUNTIME_STATE_CHECKPOINT_MANIFEST_H

#include "runtime/io/checksum.h"
#include "runtime/state/training_state.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace mtc::runtime {

/// File name of the manifest in a checkpoint folder.
inline constexpr const char *manifestName = "manifest.json";

struct CheckpointManifest {
  TrainingState state;
  std::string file;  ///< file name in the same folder: step-N-K.safetensors
  int64_t bytes = 0; ///< size of that file
  std::map<std::string, std::string>
      checksums; ///< checksums of its tensors and of frozen variables
  /// Sizes of the pieces of which the checksums of tensors are made; 0 is not stored.
  std::map<std::string, PieceSizes> pieces;

  /// Returns a checksum for a tensor, to which no byte has been added.
  PieceChecksum emptyChecksumOf(const std::string &tensor) const;

  /// Describes the steps before this program's if their batch differs; otherwise "".
  std::string batchChange;
};

/// Returns the name of the data file for attempt `attempt` (from 0) of saving this step.
std::string checkpointFileName(int64_t step, int attempt);

/// Returns the step of the checkpoint whose manifest has this text; nullopt if the text is not the
/// manifest of a checkpoint, of any program. Its other contents are not checked.
std::optional<int64_t> stepOfManifest(const std::string &text);

/// Returns whether a checkpoint may have created a file of this name: a data file, or a temporary
/// file of a data file or manifest.
bool isCheckpointFileName(const std::string &name);

/// Returns the manifest as JSON. Its key `checksum` is the checksum of the text without this key.
std::string writeManifest(const MtcProgram &program, const CheckpointManifest &manifest);

/// Parses the manifest `text`, which was read from `path`. Throws a user error if the manifest is
/// malformed, was modified, has another version, or belongs to another program: one that differs in
/// more than its batch.
CheckpointManifest parseManifest(const MtcProgram &program, const std::string &path,
                                 const std::string &text);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_CHECKPOINT_MANIFEST_H
