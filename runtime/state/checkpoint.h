// Checkpoints: a folder with the latest complete state of a training run.
#ifndef MTC_RUNTIME_STATE_CHECKPOINT_H
#define MTC_RUNTIME_STATE_CHECKPOINT_H

#include "runtime/io/checksum.h"
#include "runtime/io/folder_lock.h"
#include "runtime/io/safetensors.h"
#include "runtime/state/checkpoint_manifest.h"
#include "runtime/state/divergence.h"
#include "runtime/state/stored_variable.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The checkpoint folder of a run. It contains `step-N-K.safetensors` (parameters and state under
/// the names and in the layouts of the user's module, and the optimizer state) and `manifest.json`,
/// which records the data file's name, size and checksums, and the training state. Each save writes
/// a new data file and then replaces the manifest, so that a kill at any time leaves the previous
/// checkpoint intact. Data files that the manifest does not name are then removed.
class CheckpointFolder {
public:
  /// Creates the folder if it is missing, and locks it for the lifetime of the object. Throws a
  /// user error if the folder cannot be created or another process has locked it.
  explicit CheckpointFolder(std::string folder);
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder &) = delete;
  CheckpointFolder &operator=(const CheckpointFolder &) = delete;

  /// Throws if the folder contains a checkpoint other than the one that the run resumes from.
  /// `resumed` is the folder of --resume, or "".
  void checkReplaces(const std::string &resumed) const;

  /// Saves a checkpoint. The previous checkpoint is kept on system errors (disk full), and if
  /// training diverged: if a variable of `finite` is no longer finite.
  void save(const MtcProgram &program, Device &device, const TrainingState &state,
            const FiniteVariables &finite);

  /// Makes the checkpoint that `other` has saved last the checkpoint of this folder, too. The data
  /// file is shared by a hard link, or copied if the file system has none.
  void adopt(const MtcProgram &program, const CheckpointFolder &other);

  /// Throws a system error if the folder no longer exists.
  void checkPresent() const;

  const std::string &name() const { return folder; }
  /// Returns whether `path` is this folder, under any name.
  bool isAt(const std::string &path) const;
  /// Returns the step of the checkpoint in the folder; nullopt if there is none that can be read.
  std::optional<int64_t> heldStep() const;

  /// Returns a description of the checkpoint in the folder, as a sentence without its period.
  std::string held() const;

private:
  std::string path(const std::string &name) const { return folder + "/" + name; }
  /// Returns the name of a new data file.
  std::string newFileName(int64_t step) const;
  void writeTensors(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                    CheckpointManifest &manifest);
  /// Makes the data file of the manifest the checkpoint, and removes the previous one.
  void commit(const MtcProgram &program, CheckpointManifest manifest);
  /// Removes the files of earlier checkpoints and of killed runs. Errors are ignored.
  void removeOthers(const std::string &kept) const;

  std::string folder;
  std::vector<std::string> made; ///< folders that were created for the checkpoint
  std::optional<FolderLock> lock;
  std::optional<CheckpointManifest> latest; ///< the checkpoint that was saved or adopted last
  /// Checksums of frozen variables; nullopt until they are computed.
  std::optional<std::map<std::string, std::string>> frozen;
};

/// A checkpoint to resume from. All of its files are opened on construction, so that a concurrent
/// save into the folder does not affect it.
class Checkpoint {
public:
  /// Throws a user error if `folder` has no checkpoint, a corrupt checkpoint, or the checkpoint of
  /// another program.
  Checkpoint(const MtcProgram &program, const std::string &folder);

  const TrainingState &state() const { return manifest.state; }
  /// Returns a message about the consequences of resuming with a different batch; "" if the batch
  /// is that of the checkpoint.
  const std::string &batchChange() const { return manifest.batchChange; }
  /// Loads parameters, state and optimizer state. Verifies the checksum of every tensor, including
  /// frozen variables, which are already loaded. If a variable is divided, each rank reads its
  /// piece, and one of them verifies the whole.
  void load(const MtcProgram &program, Device &device) const;

private:
  /// Loads a variable. `complete` are those that are stored under the names of the module.
  void loadVariable(const MtcProgram &program, Device &device, uint32_t index,
                    const std::set<uint32_t> &complete) const;
  void loadInOrder(const MtcTensor &tensor, const StoredVariable &stored, Device &device,
                   uint32_t index) const;
  void loadImages(const MtcTensor &value, const std::vector<const MtcTensorImage *> &images,
                  const StoredVariable &stored, Device &device) const;
  const ArrayOnDisk &find(const MtcTensor &expected) const;
  [[noreturn]] void refuseDamaged(const std::string &name) const;

  CheckpointManifest manifest;
  std::optional<SafetensorsFile> file;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_CHECKPOINT_H
