// The arenas of a program in all memory spaces, and copies between them.
#ifndef MTC_RUNTIME_DEVICES_CPU_ARENAS_H
#define MTC_RUNTIME_DEVICES_CPU_ARENAS_H

#include "runtime/abi/program.h"
#include "runtime/io/striped_file.h"

#include <array>
#include <cstdint>

namespace mtc::runtime {

/// Base addresses of a program's arenas. The disk arena is a file and has no address.
struct Arenas {
  std::array<char *, MTC_DISK> memory{}; ///< by MtcSpace
  const StripedFile *disk = nullptr;

  char *at(uint32_t space, int64_t offset) const {
    return space == MTC_DISK ? nullptr : memory[space] + offset;
  }
};

/// Runs an MTC_COPY on the calling thread. `bounce` may be null unless the source or destination is
/// on disk.
void copyBetween(const Arenas &arenas, const MtcOperation &copy, const BouncePages *bounce);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_ARENAS_H
