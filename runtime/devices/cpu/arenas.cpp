// Copies between memory spaces.
#include "runtime/devices/cpu/arenas.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {

void copyBetween(const Arenas &arenas, const MtcOperation &copy, const BouncePages *bounce) {
  const int64_t from = copy.operands[0], to = copy.operands[1];
  const bool fromDisk = copy.source_space == MTC_DISK, toDisk = copy.destination_space == MTC_DISK;
  const char *source = arenas.at(copy.source_space, from);
  char *destination = arenas.at(copy.destination_space, to);
  if (!fromDisk && !toDisk) {
    std::memcpy(destination, source, static_cast<size_t>(copy.bytes));
    return;
  }
  if (!toDisk)
    return arenas.disk->read(from, destination, copy.bytes, *bounce);
  if (!fromDisk)
    return arenas.disk->write(to, source, copy.bytes, *bounce);
  // Both ranges are page-aligned and own the rest of their last page.
  const BouncePages between;
  for (int64_t at = 0; at < copy.bytes; at += BouncePages::bytes) {
    const int64_t count = std::min(copy.bytes - at, BouncePages::bytes);
    arenas.disk->read(from + at, between.data(), count, *bounce);
    arenas.disk->write(to + at, between.data(), count, *bounce);
  }
}

} // namespace mtc::runtime
