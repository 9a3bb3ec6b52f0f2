// Checkpoints: a folder with the newest complete state of a training run.
#ifndef MTC_RUNTIME_STATE_CHECKPOINT_H
#define MTC_RUNTIME_STATE_CHECKPOINT_H

#include "runtime/io/checksum.h"
#include "runtime/io/folder_lock.h"
#include "runtime/io/safetensors.h"
#include "runtime/state/checkpoint_manifest.h"
#include "runtime/state/divergence.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mtc::runtime {

/// A folder that a run saves to. It holds `step-N-K.safetensors` (parameters and state under the
/// names and in the layouts of the user's module, and the optimizer's state) and `manifest.json`,
/// which names it and says its size, checksums and the position of the run. The data file has a new
/// name each time and the manifest is replaced last, so that a kill at any moment leaves the
/// previous checkpoint complete; what no manifest names is then removed.
class CheckpointFolder {
public:
  /// Makes the folder if it is missing, and locks it while the object lives; a mistake of the user
  /// if it cannot be made or if another process saves into it.
  explicit CheckpointFolder(std::string folder);
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder &) = delete;
  CheckpointFolder &operator=(const CheckpointFolder &) = delete;

  /// Refuses to replace a checkpoint that the run does not go on from: `resumed` is the folder of
  /// --resume, or "".
  void checkReplaces(const std::string &resumed) const;

  /// Faults of the system (disk full) leave the previous checkpoint as it was, and so does training
  /// that diverged: a variable of `finite` that is not.
  void save(const MtcProgram &program, Device &device, const TrainingState &state,
            const FiniteVariables &finite);

  /// A fault of the system if the folder is gone.
  void checkPresent() const;

  /// Which checkpoint the folder holds, as a sentence without its full stop.
  std::string held() const;

private:
  std::string path(const std::string &name) const { return folder + "/" + name; }
  void writeTensors(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                    CheckpointManifest &manifest);
  /// Removes what earlier checkpoints and killed runs left. Failing to is no harm.
  void removeOthers(const std::string &kept) const;

  std::string folder;
  std::vector<std::string> made; ///< folders that were made for it
  std::optional<FolderLock> lock;
  std::optional<std::map<std::string, std::string>> frozen; ///< checksums, once they are known
};

/// A checkpoint that is read. It is opened as a whole when the object is made: a run that saves
/// into the folder meanwhile takes nothing away.
class Checkpoint {
public:
  /// A mistake of the user if `folder` holds none, a damaged one or one of another program.
  Checkpoint(const MtcProgram &program, const std::string &folder);

  const TrainingState &state() const { return manifest.state; }
  /// Fills parameters, state and optimizer state; every tensor is compared with its checksum, and
  /// so are those of frozen variables, which are there already.
  void load(const MtcProgram &program, Device &device) const;

private:
  std::string loadVariable(const MtcProgram &program, Device &device, uint32_t index,
                           const std::set<uint32_t> &complete) const;
  std::string read(const MtcTensor &expected,
                   const std::function<void(const ArrayOnDisk &, Checksum &)> &use) const;

  CheckpointManifest manifest;
  std::optional<SafetensorsFile> file;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_CHECKPOINT_H
