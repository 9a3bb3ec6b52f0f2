//===- ArenaLayout.h - Offsets of temporary buffers in an arena -------------------------------===//

#ifndef MTC_PASSES_MEMORY_ARENALAYOUT_H
#define MTC_PASSES_MEMORY_ARENALAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

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
/// search stops as soon as a layout has at most `enough` bytes or reaches the lower bound, which is
/// the maximum number of live bytes.
ArenaLayout layOut(llvm::ArrayRef<LiveBuffer> buffers, int64_t enough = 0);

/// The size of the smallest known layout of some buffers.
class ArenaSize {
public:
  /// Returns the size of a layout of at most `enough` bytes or, if none is found, of the smallest
  /// one. `getBuffers` returns the buffers, which are the same until `reset`.
  template <typename GetBuffers> int64_t find(int64_t enough, const GetBuffers &getBuffers) {
    if (!known || (*known > enough && !isSmallest)) {
      known = layOut(getBuffers(), enough).size;
      isSmallest = *known > enough;
    }
    return *known;
  }
  void reset() { known.reset(); }

private:
  std::optional<int64_t> known;
  bool isSmallest = false; ///< All layouts were tried.
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_ARENALAYOUT_H
