//===- MachineMemory.cpp - The memory that this machine has left ------------------------------===//

#include "driver/MachineMemory.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using llvm::StringRef;
using llvm::Twine;

/// A file's text, "" where it cannot be read. Such files have no size.
static std::string readText(const Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

/// The number behind a key at the start of a line.
static std::optional<int64_t> findNumber(StringRef text, StringRef key) {
  for (StringRef line : llvm::split(text, '\n')) {
    int64_t number = 0;
    if (line.consume_front(key) && !line.ltrim(": \t").consumeInteger(10, number))
      return number;
  }
  return std::nullopt;
}

/// What one group leaves: its limit, less what is in use and cannot be given back.
static std::optional<int64_t> leftInGroup(const Twine &folder, StringRef limitName,
                                          StringRef usageName, StringRef cacheKey) {
  std::optional<int64_t> limit = findNumber(readText(folder + "/" + limitName), "");
  std::optional<int64_t> usage = findNumber(readText(folder + "/" + usageName), "");
  if (!limit || !usage)
    return std::nullopt; // "max", or no such group.
  const int64_t cache = findNumber(readText(folder + "/memory.stat"), cacheKey).value_or(0);
  return std::max<int64_t>(*limit - std::max<int64_t>(*usage - cache, 0), 0);
}

std::optional<int64_t> mtc::tool::findAvailableMemory(StringRef root) {
  std::optional<int64_t> least = findNumber(readText(root + "/proc/meminfo"), "MemAvailable");
  if (!least)
    return std::nullopt;
  *least *= 1024;
  auto limit = [&](std::optional<int64_t> left) {
    least = std::min(*least, left.value_or(*least));
  };
  const std::string groups = readText(root + "/proc/self/cgroup");
  for (StringRef line : llvm::split(groups, '\n')) {
    auto [controllers, path] = line.split(':').second.split(':');
    const bool isUnified = controllers.empty();
    if (!isUnified && !llvm::is_contained(llvm::to_vector(llvm::split(controllers, ',')), "memory"))
      continue;
    // Each group around it has a limit, too. In a container its own is mounted at the top.
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
  return least;
}

std::optional<int64_t> mtc::tool::budgetOfAvailable(int64_t available) {
  constexpr int64_t least = int64_t(256) << 20;
  const int64_t budget = available - std::max(least, available / 20);
  return budget > 0 ? std::optional(budget) : std::nullopt;
}
