//===- MachineMemory.cpp - Available memory of this machine -----------------------------------===//

#include "driver/MachineMemory.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using llvm::StringRef;
using llvm::Twine;

/// Returns a file's text, or "" if it cannot be read. Files in /proc and /sys have no size, so read
/// as a stream.
static std::string readText(const Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

/// Returns the number after a key at the start of a line.
static std::optional<int64_t> findNumber(StringRef text, StringRef key) {
  for (StringRef line : llvm::split(text, '\n')) {
    int64_t number = 0;
    if (line.consume_front(key) && !line.ltrim(": \t").consumeInteger(10, number))
      return number;
  }
  return std::nullopt;
}

/// Returns the remaining memory of a cgroup: its limit, minus usage that cannot be reclaimed.
static std::optional<int64_t> leftInGroup(const Twine &folder, StringRef limitName,
                                          StringRef usageName, StringRef cacheKey) {
  std::optional<int64_t> limit = findNumber(readText(folder + "/" + limitName), "");
  std::optional<int64_t> usage = findNumber(readText(folder + "/" + usageName), "");
  if (!limit || !usage)
    return std::nullopt; // Unlimited ("max"), or no such cgroup.
  const int64_t cache = findNumber(readText(folder + "/memory.stat"), cacheKey).value_or(0);
  return std::max<int64_t>(*limit - std::max<int64_t>(*usage - cache, 0), 0);
}

std::optional<int64_t> mtc::tool::findAvailableMemory(StringRef root) {
  std::optional<int64_t> minimum = findNumber(readText(root + "/proc/meminfo"), "MemAvailable");
  if (!minimum)
    return std::nullopt;
  *minimum *= 1024;
  auto limit = [&](std::optional<int64_t> left) {
    minimum = std::min(*minimum, left.value_or(*minimum));
  };
  const std::string groups = readText(root + "/proc/self/cgroup");
  for (StringRef line : llvm::split(groups, '\n')) {
    auto [controllers, path] = line.split(':').second.split(':');
    const bool isUnified = controllers.empty();
    if (!isUnified && !llvm::is_contained(llvm::to_vector(llvm::split(controllers, ',')), "memory"))
      continue;
    // Parent cgroups have limits, too. In a container, the container's own cgroup is mounted at the
    // root.
    for (StringRef group = path;; group = llvm::sys::path::parent_path(group)) {
      const StringRef inner = group == "/" ? "" : group;
      if (isUnified)
        limit(leftInGroup(root + "/sys/fs/cgroup" + inner, "memory.max", "memory.current",
                          "inactive_file"));
      else
        limit(leftInGroup(root + "/sys/fs/cgroup/memory" + inner, "memory.limit_in_bytes",
                          "memory.usage_in_bytes", "total_inactive_file"));
      if (inner.empty())
        break;
    }
  }
  return minimum;
}

std::optional<int64_t> mtc::tool::budgetOfAvailable(int64_t available) {
  constexpr int64_t minimum = int64_t(256) << 20;
  const int64_t budget = available - std::max(minimum, available / 20);
  return budget > 0 ? std::optional(budget) : std::nullopt;
}
