// Memory statistics from /proc and the control groups.
#include "runtime/support/process.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/resource.h>

namespace mtc::runtime {

/// Returns the number after `key`, in bytes, in a file of lines `Key:  12 kB`.
static std::optional<int64_t> field(const char *path, const std::string &key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0)
      continue;
    int64_t kibibytes = 0;
    if (std::istringstream(line.substr(key.size())) >> kibibytes)
      return kibibytes * 1024;
  }
  return std::nullopt;
}

static std::optional<int64_t> number(const std::string &path) {
  std::ifstream file(path);
  int64_t value = 0;
  if (file >> value)
    return value;
  return std::nullopt; // missing, or `max`
}

/// Returns the memory available within the limit of one control group. Reclaimable page cache
/// counts as free.
static std::optional<int64_t> groupLeaves(const std::string &folder, const char *limitFile,
                                          const char *usageFile) {
  auto limit = number(folder + limitFile), usage = number(folder + usageFile);
  if (!limit || !usage)
    return std::nullopt;
  int64_t cache = 0;
  std::ifstream statistics(folder + "/memory.stat");
  for (std::string key, value; statistics >> key >> value;)
    if (key == "inactive_file" || key == "active_file")
      cache += std::stoll(value);
  return std::max<int64_t>(0, *limit - *usage + std::min(cache, *usage));
}

/// Returns the smaller one of the machine's available memory and that of the control groups.
static int64_t limitByGroups(int64_t available) {
  // Lines are `0::/path` (version 2) and `N:memory:/path` (version 1). The limits of all ancestors
  // apply too.
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':'),
           second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1),
                path = line.substr(second + 1);
    bool unified = controllers.empty();
    if (!unified && controllers != "memory")
      continue;
    for (;;) {
      auto left = unified ? groupLeaves("/sys/fs/cgroup" + path, "/memory.max", "/memory.current")
                          : groupLeaves("/sys/fs/cgroup/memory" + path, "/memory.limit_in_bytes",
                                        "/memory.usage_in_bytes");
      if (left)
        available = std::min(available, *left);
      if (path.size() <= 1)
        break;
      path.resize(std::max<size_t>(path.find_last_of('/'), 1));
    }
  }
  return available;
}

int64_t availableMemory() {
  const auto machine = field("/proc/meminfo", "MemAvailable:");
  return machine ? limitByGroups(*machine + field("/proc/meminfo", "SwapFree:").value_or(0)) : -1;
}

int64_t lockableMemory() {
  const auto machine = field("/proc/meminfo", "MemAvailable:");
  return machine ? limitByGroups(*machine) : -1;
}

ProcessMemory processMemory() {
  const char *status = "/proc/self/status";
  ProcessMemory memory;
  memory.peak = field(status, "VmHWM:").value_or(0);
  memory.resident = field(status, "VmRSS:").value_or(0);
  memory.anonymous = field(status, "RssAnon:").value_or(0);
  memory.fileBacked =
      field(status, "RssFile:").value_or(0) + field(status, "RssShmem:").value_or(0);
  return memory;
}

int availableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  return std::max(1, CPU_COUNT(&set));
}

void raiseOpenFileLimit() {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
    return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

} // namespace mtc::runtime
