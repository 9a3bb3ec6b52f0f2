// The last checkpoints of a run: --keep.
#ifndef MTC_RUNTIME_STATE_CHECKPOINT_HISTORY_H
#define MTC_RUNTIME_STATE_CHECKPOINT_HISTORY_H

#include "runtime/state/checkpoint.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Keeps checkpoints in subfolders `step-N` of the folder of --save. Each is complete: --resume
/// accepts it. Their data files share the memory of the disk with the folder's own checkpoint.
class CheckpointHistory {
public:
  /// Keeps the last `count` checkpoints in subfolders of `folder`.
  CheckpointHistory(std::string folder, int64_t count);

  /// Keeps the checkpoint of step `step`, which `saved` has saved last, and then removes the oldest
  /// ones beyond the limit. Checkpoints of later steps, from which an earlier run went on, remain
  /// until the run has passed them. Removes only files that mtc wrote, and no checkpoint that
  /// another process uses.
  void keep(const MtcProgram &program, const CheckpointFolder &saved, int64_t step);

  /// Throws a user error if there are checkpoints although the run resumes from none. `resumed` is
  /// the folder of --resume, or "".
  void checkReplaces(const std::string &resumed) const;

private:
  void removeOldest(int64_t step) const;

  std::string folder;
  int64_t count;
};

/// Name of the subfolder of --save for the checkpoint of --keep-best.
inline constexpr const char *bestFolderName = "best";

/// Returns the name of the subfolder of a step: "step-N".
std::string historyFolderName(int64_t step);

/// Returns the step of a subfolder of this name; nullopt if it has another name.
std::optional<int64_t> stepOfHistoryFolder(const std::string &name);

/// Returns the steps of all subfolders `step-N` of `folder`, latest first. Symbolic links are
/// excluded.
std::vector<int64_t> historyOf(const std::string &folder);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_CHECKPOINT_HISTORY_H
