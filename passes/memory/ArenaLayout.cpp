//===- ArenaLayout.cpp - Offsets for buffers that live for a while ----------------------------===//

#include "passes/memory/ArenaLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

using namespace mtc;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Allocates buffers in the given order, each at the lowest offset that is free while it lives.
static ArenaLayout layOutInOrder(ArrayRef<LiveBuffer> buffers, ArrayRef<unsigned> order) {
  ArenaLayout layout;
  layout.offsets.assign(buffers.size(), 0);
  SmallVector<unsigned> allocated; // By offset.
  for (unsigned index : order) {
    const LiveBuffer &buffer = buffers[index];
    if (buffer.bytes == 0)
      continue;
    int64_t offset = 0;
    for (unsigned other : allocated) {
      if (buffers[other].end < buffer.begin || buffer.end < buffers[other].begin)
        continue;
      if (layout.offsets[other] >= offset + buffer.bytes)
        break;
      offset = std::max(offset, layout.offsets[other] + buffers[other].bytes);
    }
    layout.offsets[index] = offset;
    layout.size = std::max(layout.size, offset + buffer.bytes);
    auto position = llvm::upper_bound(allocated, offset, [&](int64_t value, unsigned other) {
      return value < layout.offsets[other];
    });
    allocated.insert(position, index);
  }
  return layout;
}

ArenaLayout mtc::layOut(ArrayRef<LiveBuffer> buffers) {
  SmallVector<unsigned> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-buffers[a].bytes, a) < std::pair(-buffers[b].bytes, b);
  });
  ArenaLayout best = layOutInOrder(buffers, order);

  auto area = [&](unsigned i) {
    return static_cast<double>(buffers[i].bytes) * (buffers[i].end - buffers[i].begin + 1);
  };
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-area(a), a) < std::pair(-area(b), b);
  });
  ArenaLayout second = layOutInOrder(buffers, order);
  if (second.size < best.size)
    best = std::move(second);
  return best;
}
