// Memory and cores available to this process.
#ifndef MTC_RUNTIME_SUPPORT_PROCESS_H
#define MTC_RUNTIME_SUPPORT_PROCESS_H

#include <cstdint>

namespace mtc::runtime {

/// Returns the bytes that this process can still allocate, limited by the machine's memory and swap
/// and by its control groups; -1 if the system does not report them.
int64_t availableMemory();

/// Returns the bytes that this process can still allocate as page-locked memory, which the system
/// cannot swap out; -1 if the system does not report them.
int64_t lockableMemory();

/// Current and peak resident memory of this process, in bytes. File-backed memory consists of code
/// and libraries.
struct ProcessMemory {
  int64_t peak = 0, resident = 0, anonymous = 0, fileBacked = 0;
};
ProcessMemory processMemory();

/// Returns the number of cores on which this process may run.
int availableCores();

/// Raises the number of files that this process may open to the system's limit for it.
void raiseOpenFileLimit();

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_PROCESS_H
