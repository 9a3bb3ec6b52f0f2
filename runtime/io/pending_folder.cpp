// Temporary folders have the name of the target and of the process: `.NAME.PID.tmp`.
#include "runtime/io/pending_folder.h"

#include "runtime/io/durable_file.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace mtc::runtime {

std::vector<std::string> entriesOf(const std::string &folder) {
  std::vector<std::string> names;
  DIR *directory = opendir(folder.c_str());
  if (!directory)
    return names;
  while (const dirent *entry = readdir(directory))
    if (std::string_view name = entry->d_name; name != "." && name != "..")
      names.emplace_back(name);
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

/// Removes a folder of files. Errors are ignored.
static void removeFolder(const std::string &folder) {
  for (const std::string &name : entriesOf(folder))
    unlink((folder + "/" + name).c_str());
  rmdir(folder.c_str());
}

static constexpr std::string_view ending = ".tmp";

/// Removes the temporary folders of processes that have ended.
static void removeStale(const std::string &target) {
  const std::string parent = folderOf(target), start = "." + fileNameOf(target) + ".";
  for (const std::string &name : entriesOf(parent)) {
    if (!name.starts_with(start) || !name.ends_with(ending))
      continue;
    const char *end = name.data() + name.size() - ending.size();
    pid_t process = 0;
    if (std::from_chars(name.data() + start.size(), end, process).ptr == end && process > 0 &&
        kill(process, 0) != 0 && errno == ESRCH)
      removeFolder(parent + "/" + name);
  }
}

PendingFolder::PendingFolder(const std::string &path) : target(path) {
  while (target.size() > 1 && target.back() == '/')
    target.pop_back();
  if (char *resolved = realpath(target.c_str(), nullptr)) {
    target = resolved;
    std::free(resolved);
  }
  removeStale(target);
  temporary = text(folderOf(target), "/.", fileNameOf(target), ".", getpid(), ending);
  if (mkdir(temporary.c_str(), 0777) != 0)
    systemError(target, ": the folder cannot be made: ", describeWriteError(errno));
}

PendingFolder::~PendingFolder() {
  if (!temporary.empty())
    removeFolder(temporary);
}

void PendingFolder::commit() {
  syncFolder(temporary);
  // An empty folder is replaced, too.
  if (rename(temporary.c_str(), target.c_str()) == 0) {
    temporary.clear();
  } else if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) !=
             0) {
    if (errno != EINVAL && errno != ENOSYS)
      systemError(target, ": cannot be replaced: ", std::strerror(errno));
    // The file system cannot exchange names.
    const std::string previous = temporary + ".old";
    if (rename(target.c_str(), previous.c_str()) != 0 ||
        rename(temporary.c_str(), target.c_str()) != 0)
      systemError(target, ": cannot be replaced: ", std::strerror(errno));
    temporary = previous;
  }
  syncFolder(folderOf(target));
}

} // namespace mtc::runtime
