//===- ArenaLayout.h - Offsets of temporary buffers in an arena -------------------------------===//

#ifndef MTC_PASSES_MEMORY_ARENALAYOUT_H
#define MTC_PASSES_MEMORY_ARENALAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace mtc {

/// A buffer with the live range [begin, end], both inclusive, in positions of the schedule.
struct LiveBuffer {
  int64_t bytes = 0;
  int64_t begin = 0, end = 0;
};

struct ArenaLayout {
  llvm::SmallVector<int64_t> offsets; // One per buffer, in the order of the buffers.
  int64_t size = 0;                   // Bytes of the whole arena.
};

/// Returns an offset for each buffer such that buffers with overlapping live ranges do not overlap
/// in memory. Buffer sizes must be multiples of the arena's alignment.
///
/// Each candidate layout allocates the buffers one after another, first fit at the lowest free
/// offset. Three orders are tried: by decreasing size; buffers that are live at the peak first, by
/// decreasing duration, so that long-lived buffers get lower offsets than short-lived ones; and by
/// decreasing size times duration. The first and the third are the greedy strategies of Pisarchyk
/// and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020). If there are few
/// buffers, further orders and a random local search follow. The smallest layout is returned; the
/// search stops as soon as a layout reaches the lower bound, which is the maximum number of live
/// bytes.
ArenaLayout layOut(llvm::ArrayRef<LiveBuffer> buffers);

} // namespace mtc

#endif // MTC_PASSES_MEMORY_ARENALAYOUT_H
