// What the system gives this process: memory and cores.
#ifndef MTC_RUNTIME_SUPPORT_PROCESS_H
#define MTC_RUNTIME_SUPPORT_PROCESS_H

#include <cstdint>

namespace mtc::runtime {

/// Bytes that this process can still get, by the machine's memory and swap and by the limits of its
/// control groups; -1 where the system does not say.
int64_t availableMemory();

/// Resident memory of this process in bytes, now and at its highest; file-backed is code and
/// libraries.
struct ProcessMemory {
  int64_t peak = 0, resident = 0, anonymous = 0, fileBacked = 0;
};
ProcessMemory processMemory();

/// Cores that this process may run on.
int availableCores();

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_PROCESS_H
