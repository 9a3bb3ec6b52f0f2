// The functions of NCCL that programs use, declared here for the reasons given in
// runtime/devices/gpu/driver.h.
#ifndef MTC_RUNTIME_COLLECTIVES_NCCL_NCCL_H
#define MTC_RUNTIME_COLLECTIVES_NCCL_NCCL_H

#include "runtime/devices/gpu/driver.h"

#include <cstddef>
#include <cstdint>

namespace mtc::runtime::nccl {

using Communicator = struct CommunicatorObject *;
using Stream = gpu::Stream;

/// Identifies a communicator that is being created.
struct UniqueId {
  char bytes[128];
};

/// Values of the library's enumerations.
enum Status : int { // ncclResult_t
  done = 0,
  systemFailed = 2,
  invalidArgument = 4,
  invalidUsage = 5,
  remoteFailed = 6
};
constexpr int byteType = 0;    // ncclInt8
constexpr int totalMemory = 3; // ncclStatGpuMemTotal

struct Library {
  int (*version)(int *version); ///< 10000 * major + 100 * minor + patch
  const char *(*statusText)(int status);
  const char *(*lastError)(Communicator communicator); ///< in words
  int (*makeId)(UniqueId *id);
  int (*create)(Communicator *communicator, int ranks, UniqueId id, int rank);
  int (*destroy)(Communicator communicator);
  int (*abort)(Communicator communicator);
  int (*asynchronousStatus)(Communicator communicator, int *status);
  int (*beginGroup)();
  int (*endGroup)();
  int (*send)(const void *from, size_t count, int type, int peer, Communicator communicator,
              Stream stream);
  int (*receive)(void *to, size_t count, int type, int peer, Communicator communicator,
                 Stream stream);
  /// The pointer is null before version 2.29.
  int (*memoryStatistic)(Communicator communicator, int which, uint64_t *value);
  /// Names the group that is enqueued next on a stream; null unless the library is the emulated
  /// one.
  void (*nameGroup)(const char *name, Stream stream);
};

/// Returns the library. Throws a system error if there is no NCCL. The message contains the
/// searched names and the package to install. In an emulated program, returns the emulated library.
const Library &openLibrary();

} // namespace mtc::runtime::nccl

#endif // MTC_RUNTIME_COLLECTIVES_NCCL_NCCL_H
