// Files are compared as the system knows them, by device and number.
#include "runtime/output_check.h"

#include "runtime/io/durable_file.h"

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

/// The files that a run reads, and what they are.
class Inputs {
public:
  Inputs(const MtcProgram &program, const std::string &programPath, const Options &options) {
    add(programPath, "this program");
    if (!options.weights.empty())
      addWeights(options.weights);
    else if (*program.weights_file)
      add(folderOf(programPath) + "/" + program.weights_file, "the program's weights");
    for (const auto &[name, file] : options.data)
      addData(file, "the data of '" + name + "'");
    for (const std::string *folder : {&options.resume, &options.save})
      if (!folder->empty())
        addCheckpoint(*folder);
  }

  /// "" for a file that is none of them.
  std::string roleOf(const struct stat &status) const {
    auto found = roles.find({status.st_dev, status.st_ino});
    return found == roles.end() ? "" : found->second;
  }

private:
  void add(const std::string &path, const std::string &role) {
    if (auto status = statusOf(path))
      roles.emplace(FileId(status->st_dev, status->st_ino), role);
  }

  /// What follows the file's name after a colon says what of it is meant.
  void addData(const std::string &text, const std::string &role) {
    add(text, role);
    for (size_t colon = text.find(':'); colon != std::string::npos;
         colon = text.find(':', colon + 1))
      add(text.substr(0, colon), role);
  }

  void addCheckpoint(const std::string &folder) {
    addFiles(folder, "part of the checkpoint in " + folder, [](const std::string &name) {
      return name == "manifest.json" || name.rfind("step-", 0) == 0;
    });
  }

  /// A folder's files, and those that an index names, lie together.
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

/// What tells a file from others: its number, or where it will be.
std::string identityOf(const std::string &path, const std::optional<struct stat> &status) {
  if (status)
    return text(status->st_dev, ":", status->st_ino);
  auto folder = statusOf(folderOf(path));
  std::string name = path.substr(path.find_last_of('/') + 1);
  return folder ? text(folder->st_dev, ":", folder->st_ino, "/", name) : path;
}

/// Of a folder that is made if it is missing, in one that is not; "" names none.
void checkFolder(const char *flag, const std::string &path, Problems &problems) {
  if (path.empty())
    return;
  auto status = statusOf(path);
  const std::string folder = status ? path : folderOf(path);
  if (status && !S_ISDIR(status->st_mode))
    problems.add(flag, " ", path, ": is a file; the name of a folder is expected");
  else if (access(folder.c_str(), W_OK | X_OK) != 0)
    problems.add(flag, " ", path, ": the folder ", folder,
                 " cannot be written to: ", std::strerror(errno));
}

} // namespace

void checkOutputs(const MtcProgram &program, const std::string &programPath, const Options &options,
                  Problems &problems) {
  struct Output {
    const char *flag;
    const std::string &path;
    bool isStream;
  };
  const Output outputs[] = {{"--gradients", options.gradients, false},
                            {"--outputs", options.outputs, false},
                            {"--export", options.exportTo, false},
                            {"--export-weights", options.exportWeightsTo, false},
                            {"--export-training", options.exportTrainingTo, false},
                            {"--memory-report", options.memoryReport, false},
                            {"--profile-summary", options.profileSummary, false},
                            {"--metrics", options.metrics, true},
                            {"--profile", options.profile, true}};
  const Inputs inputs(program, programPath, options);
  std::map<std::string, const char *> seen;
  for (const Output &output : outputs) {
    if (output.path.empty())
      continue;
    auto bad = [&](const auto &...parts) {
      problems.add(output.flag, " ", output.path, ": ", parts...);
    };
    auto status = statusOf(output.path);
    auto [first, isNew] = seen.emplace(identityOf(output.path, status), output.flag);
    const std::string folder = folderOf(output.path);
    if (!isNew)
      bad("is the same file as that of ", first->second, "; give each a file of its own");
    else if (std::string role = status ? inputs.roleOf(*status) : ""; !role.empty())
      bad("is ", role, "; choose another name");
    else if (status && S_ISDIR(status->st_mode))
      bad("is a folder; the name of a file is expected");
    else if (status && !S_ISREG(status->st_mode) && !output.isStream)
      bad("is a device or a pipe; the name of a file is expected");
    else if ((!status || !output.isStream) && access(folder.c_str(), W_OK | X_OK) != 0)
      bad("the folder ", folder, " cannot be written to: ", std::strerror(errno));
  }
  checkFolder("--export-adapters", options.exportAdaptersTo, problems);
}

} // namespace mtc::runtime
