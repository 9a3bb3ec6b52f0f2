// Files are compared by device and inode.
#include "runtime/output_check.h"

#include "runtime/io/durable_file.h"
#include "runtime/io/folder_lock.h"
#include "runtime/state/adapters.h"
#include "runtime/state/checkpoint_history.h"
#include "runtime/state/checkpoint_manifest.h"
#include "runtime/state/initial_weights.h"
#include "runtime/state/weights_folder.h"
#include "support/files/written_by_mtc.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace mtc::runtime {
namespace {

using FileId = std::pair<dev_t, ino_t>;

std::optional<struct stat> statusOf(const std::string &path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    return std::nullopt;
  return status;
}

/// Returns whether a folder of --save may contain a file of this name.
bool isFileOfCheckpoints(const std::string &name) {
  return name == manifestName || name == FolderLock::fileName || isCheckpointFileName(name);
}

/// The files that a run reads, with their roles.
class InputFiles {
public:
  InputFiles(const MtcProgram &program, const std::string &programPath, const Options &options) {
    add(programPath, "this program");
    const std::string folder = folderOf(programPath) + "/";
    for (const char *file = program.model_files; *file; file += std::strlen(file) + 1)
      add(folder + file, "the model that the program was compiled from");
    if (*program.weights_file)
      add(folder + program.weights_file, "the program's weights");
    if (const std::string weights =
            initialWeightsPath(program, options.weights, folderOf(programPath));
        !weights.empty())
      addWeights(weights);
    for (const auto &[name, file] : options.data)
      addData(file, "the data of '" + name + "'");
    for (const auto &[name, file] : options.validate)
      addData(file, "the validation data of '" + name + "'");
    if (!options.sampleWeights.empty())
      addData(options.sampleWeights, "the file of --sample-weights");
    if (!options.schedule.table.empty())
      add(options.schedule.table, "the table of --schedule-table");
    for (const std::string *folder : {&options.resume, &options.save})
      if (!folder->empty())
        addCheckpoint(*folder);
    if (options.save.empty())
      return;
    addCheckpoint(options.save + "/" + bestFolderName);
    for (const int64_t step : historyOf(options.save))
      addCheckpoint(options.save + "/" + historyFolderName(step));
  }

  /// Returns "" for a file that the run does not read.
  std::string roleOf(const struct stat &status) const {
    auto found = roles.find({status.st_dev, status.st_ino});
    return found == roles.end() ? "" : found->second;
  }

private:
  void add(const std::string &path, const std::string &role) {
    if (auto status = statusOf(path))
      roles.emplace(FileId(status->st_dev, status->st_ino), role);
  }

  void addData(const std::string &value, const std::string &role) {
    for (const std::string &path : pathsOfData(value))
      add(path, role);
  }

  void addCheckpoint(const std::string &folder) {
    addFiles(folder, "part of the checkpoint in " + folder,
             [](const std::string &name) { return isFileOfCheckpoints(name); });
  }

  /// Adds a weights file, and for a folder or index all weights files in the same folder.
  void addWeights(const std::string &path) {
    add(path, "the file of --weights");
    auto status = statusOf(path);
    const bool isFolder = status && S_ISDIR(status->st_mode);
    if (isFolder || path.ends_with(".json"))
      addFiles(isFolder ? path : folderOf(path), "part of the weights of --weights",
               [](const std::string &name) {
                 return name.ends_with(".safetensors") || name.ends_with(".index.json");
               });
  }

  template <typename IsMeant>
  void addFiles(const std::string &folder, const std::string &role, const IsMeant &isMeant) {
    DIR *directory = opendir(folder.c_str());
    if (!directory)
      return;
    while (const dirent *entry = readdir(directory))
      if (isMeant(entry->d_name))
        add(folder + "/" + entry->d_name, role);
    closedir(directory);
  }

  std::map<FileId, std::string> roles;
};

/// Returns a unique identity of a file: device and inode, or folder and name if it does not exist
/// yet.
std::string identityOf(const std::string &path, const std::optional<struct stat> &status) {
  if (status)
    return text(status->st_dev, ":", status->st_ino);
  auto folder = statusOf(folderOf(path));
  return folder ? text(folder->st_dev, ":", folder->st_ino, "/", fileNameOf(path)) : path;
}

/// Checks a folder that is created if it is missing: its parent must then be writable. "" is
/// ignored.
void checkFolder(const char *flag, const std::string &path, Problems &problems) {
  if (path.empty())
    return;
  auto status = statusOf(path);
  const std::string folder = status ? path : folderOf(path);
  if (status && !S_ISDIR(status->st_mode))
    problems.add(flag, " ", path, ": is a file; expected the name of a folder");
  else if (access(folder.c_str(), W_OK | X_OK) != 0)
    problems.add(flag, " ", path, ": the folder ", folder,
                 " cannot be written to: ", std::strerror(errno));
}

/// Checks a folder that is created with its missing parents. "" is ignored.
void checkFolders(const char *flag, const std::string &path, Problems &problems) {
  if (path.empty())
    return;
  std::string existing = path;
  while (!statusOf(existing) && existing != folderOf(existing))
    existing = folderOf(existing);
  if (auto status = statusOf(existing); status && !S_ISDIR(status->st_mode))
    problems.add(flag, " ", path, ": ", existing == path ? "" : existing + " ",
                 "is a file; expected the name of a folder");
  else if (access(existing.c_str(), W_OK | X_OK) != 0)
    problems.add(flag, " ", path, ": the folder ", existing,
                 " cannot be written to: ", std::strerror(errno));
}

/// Checks the folder of --export-weights, which is replaced as a whole.
void checkWeightsFolder(const MtcProgram &program, const std::string &programPath,
                        const Options &options, Problems &problems) {
  std::string path = options.exportWeightsTo;
  if (path.empty() || !isWeightsFolder(path))
    return;
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  const auto status = statusOf(path);
  if (status && !S_ISDIR(status->st_mode)) {
    problems.add("--export-weights ", path,
                 ": is a file; expected the name of a folder, or FILE.safetensors");
    return;
  }
  std::string parent = folderOf(path);
  if (access(parent.c_str(), W_OK | X_OK) != 0)
    problems.add("--export-weights ", path, ": the folder ", parent,
                 " cannot be written to: ", std::strerror(errno));
  const std::string given = initialWeightsPath(program, options.weights, folderOf(programPath));
  for (const std::string &used : {given.empty() ? "" : folderOfWeights(given), options.save,
                                  options.resume, options.exportAdaptersTo})
    if (auto other = statusOf(used);
        status && other && status->st_dev == other->st_dev && status->st_ino == other->st_ino)
      problems.add("--export-weights ", path,
                   ": the run uses this folder otherwise; choose a new "
                   "folder");
  if (const std::string problem = problemOfReplacing(path); !problem.empty())
    problems.add("--export-weights ", path, ": ", problem);
}

struct Output {
  std::string flag, path;
  bool isStream = false;   ///< written incrementally, also to a device or pipe
  std::string marked = {}; ///< the file with the mark of mtc; "": the file itself
};

std::vector<Output> outputsOf(const Options &options) {
  std::vector<Output> outputs = {{"--gradients", options.gradients},
                                 {"--outputs", options.outputs},
                                 {"--export", options.exportTo},
                                 {"--export-training", options.exportTrainingTo},
                                 {"--memory-report", options.memoryReport},
                                 {"--profile-summary", options.profileSummary},
                                 {"--report", options.report},
                                 {"--metrics", options.metrics, true},
                                 {"--profile", options.profile, true}};
  if (!isWeightsFolder(options.exportWeightsTo))
    outputs.push_back({"--export-weights", options.exportWeightsTo});
  if (const std::string &folder = options.exportAdaptersTo; !folder.empty() && statusOf(folder)) {
    const std::string weights = folder + "/" + adapterWeightsName;
    outputs.push_back({"--export-adapters", weights});
    // PEFT rejects configurations with unknown keys, so the mark is in the weights file.
    outputs.push_back({"--export-adapters", folder + "/" + adapterConfigName, false, weights});
  }
  std::erase_if(outputs, [](const Output &output) { return output.path.empty(); });
  return outputs;
}

/// Checks outputs one by one.
class OutputRules {
public:
  OutputRules(const InputFiles &inputs, const Options &options)
      : inputs(inputs), options(options), saved(statusOf(options.save)) {}

  /// Returns why an output must not be written; "" if it may be.
  std::string problemOf(const Output &output) {
    const std::string &path = output.path, folder = folderOf(path);
    struct stat link;
    auto status = statusOf(path);
    auto [first, isNew] = seen.emplace(identityOf(path, status), output.flag);
    if (!isNew)
      return text("is the same file as that of ", first->second, "; give each a file of its own");
    if (std::string role = status ? inputs.roleOf(*status) : ""; !role.empty())
      return text("is ", role, "; choose another name");
    if (isFileOfCheckpoints(fileNameOf(path)) &&
        (isSaved(folder) || (isSubfolderOfSave(fileNameOf(folder)) && isSaved(folderOf(folder)))))
      return "is a name of the checkpoints that --save writes there; choose another name";
    if (status && S_ISDIR(status->st_mode))
      return "is a folder; expected the name of a file";
    if (status && !S_ISREG(status->st_mode))
      return output.isStream ? "" : "is a device or a pipe; expected the name of a file";
    if (!status && lstat(path.c_str(), &link) == 0)
      return "is a broken symbolic link; remove the link or choose another name";
    if ((!status || !output.isStream) && access(folder.c_str(), W_OK | X_OK) != 0)
      return text("the folder ", folder, " cannot be written to: ", std::strerror(errno));
    if (status && status->st_size > 0 && !options.isForced &&
        !files::isWrittenByMtc(output.marked.empty() ? path : output.marked))
      return "exists, and mtc did not write it; choose another name, or replace it with --force";
    return "";
  }

private:
  static bool isSame(const struct stat &one, const struct stat &other) {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  }

  /// Returns whether a folder is that of --save.
  bool isSaved(const std::string &folder) const {
    auto status = statusOf(folder);
    return saved && status && isSame(*saved, *status);
  }
  /// Returns whether the folder of --save may contain a folder of this name.
  static bool isSubfolderOfSave(const std::string &name) {
    return name == bestFolderName || stepOfHistoryFolder(name);
  }

  const InputFiles &inputs;
  const Options &options;
  std::optional<struct stat> saved; ///< the folder of --save
  std::map<std::string, std::string> seen;
};

} // namespace

void checkOutputs(const MtcProgram &program, const std::string &programPath, const Options &options,
                  Problems &problems) {
  const InputFiles inputs(program, programPath, options);
  OutputRules rules(inputs, options);
  for (const Output &output : outputsOf(options))
    if (std::string problem = rules.problemOf(output); !problem.empty())
      problems.add(output.flag, " ", output.path, ": ", problem);
  checkWeightsFolder(program, programPath, options, problems);
  checkFolder("--export-adapters", options.exportAdaptersTo, problems);
  checkFolders("--tensorboard", options.tensorboard, problems);
}

} // namespace mtc::runtime
