//===- ArenaLayout.h - Offsets for buffers that live for a while ------------------------------===//

#ifndef MTC_PASSES_MEMORY_ARENALAYOUT_H
#define MTC_PASSES_MEMORY_ARENALAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace mtc {

/// A buffer that is alive from time `begin` to time `end`, both included.
struct LiveBuffer {
  int64_t bytes = 0;
  int64_t begin = 0, end = 0;
};

struct ArenaLayout {
  llvm::SmallVector<int64_t> offsets; // One for each buffer, in their order.
  int64_t size = 0;                   // Bytes that hold them all.
};

/// Gives each buffer an offset such that buffers alive at the same time do not overlap. Buffers go,
/// one after another, to the lowest gap that holds them, in three orders, of which the smallest
/// result is taken: by falling size; those at the peak before the others, by falling duration, so
/// that what stays does not lie above what goes; by falling size times duration. Few buffers are
/// then tried in more orders, and the best of all is changed at random. None is tried where none
/// can be better. The first and the third are the greedy strategies of Pisarchyk and Lee,
/// "Efficient Memory Management for Deep Neural Net Inference" (2020). Sizes must be multiples of
/// the alignment.
ArenaLayout layOut(llvm::ArrayRef<LiveBuffer> buffers);

} // namespace mtc

#endif // MTC_PASSES_MEMORY_ARENALAYOUT_H
