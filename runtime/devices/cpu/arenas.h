// The memory of a program in all spaces, and copies between them.
#ifndef MTC_RUNTIME_DEVICES_CPU_ARENAS_H
#define MTC_RUNTIME_DEVICES_CPU_ARENAS_H

#include "runtime/abi/program.h"
#include "runtime/io/scratch_file.h"

#include <array>
#include <cstdint>

namespace mtc::runtime {

/// Where the arenas of a program begin. On a disk there is no address, but a file.
struct Arenas {
  std::array<char *, MTC_DISK> memory{}; ///< by MtcSpace
  const ScratchFile *disk = nullptr;

  char *at(uint32_t space, int64_t offset) const {
    return space == MTC_DISK ? nullptr : memory[space] + offset;
  }
};

/// Runs an MTC_COPY on the calling thread; `bounce` may be null where no end is on a disk.
void copyBetween(const Arenas &arenas, const MtcOperation &copy, const BouncePages *bounce);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_ARENAS_H
