//===- MachineMemory.h - Available memory of this machine -------------------------------------===//

#ifndef MTC_DRIVER_MACHINEMEMORY_H
#define MTC_DRIVER_MACHINEMEMORY_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace mtc::tool {

/// Returns the bytes that a process can allocate now: the memory that Linux reports as available
/// without swapping, limited by the cgroups (v2 or v1) of this process. Returns nothing if the
/// required files do not exist. `root` is a prefix of all paths, for tests.
std::optional<int64_t> findAvailableMemory(llvm::StringRef root = "");

/// Returns the budget for a program: the available memory minus 5 %, at least 256 MiB, for code,
/// libraries and data readers. Returns nothing if no memory remains.
std::optional<int64_t> budgetOfAvailable(int64_t available);

} // namespace mtc::tool

#endif // MTC_DRIVER_MACHINEMEMORY_H
