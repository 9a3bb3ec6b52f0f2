//===- MachineMemory.h - The memory that this machine has left --------------------------------===//

#ifndef MTC_DRIVER_MACHINEMEMORY_H
#define MTC_DRIVER_MACHINEMEMORY_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace mtc::tool {

/// Bytes that a process may take now: what the system says is available without swapping, and no
/// more than the control groups of this process leave (cgroups of version 2, or 1). None where
/// Linux' files are not there. `root` is in front of their paths, for tests.
std::optional<int64_t> findAvailableMemory(llvm::StringRef root = "");

/// What a program may plan with of these: all but a twentieth, and 256 MiB at least, which its
/// code, libraries and data readers take besides. None where nothing is left.
std::optional<int64_t> budgetOfAvailable(int64_t available);

} // namespace mtc::tool

#endif // MTC_DRIVER_MACHINEMEMORY_H
