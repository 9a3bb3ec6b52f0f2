//===- CopyPlacement.cpp - Overlap of copies with computation ---------------------------------===//

#include "passes/offload/CopyPlacement.h"

using namespace mlir;
using namespace mtc;

/// Returns whether the operation may run later than its position in the block.
bool CopyPlacement::isWrite(int64_t time) const {
  return !function.getOrder()[time]->written.empty();
}

Operation *CopyPlacement::getOperation(int64_t time) const {
  while (isWrite(time))
    ++time;
  return function.getOrder()[time]->op;
}

int64_t CopyPlacement::findStart(int64_t use, int64_t bytes, int64_t after, int64_t limit) const {
  double seconds = target.getTransferSeconds(target.getOffloadSpace(), MemorySpace::Device, bytes);
  int64_t start = use;
  for (int64_t time = use - 1; time > after && seconds > 0 && live[time] <= limit; --time) {
    seconds -= times.of(function.getOrder()[time]->op);
    if (!isWrite(time))
      start = time;
  }
  return start;
}

int64_t CopyPlacement::findRelease(int64_t time, int64_t bytes, int64_t before,
                                   int64_t limit) const {
  double seconds = target.getTransferSeconds(MemorySpace::Device, target.getOffloadSpace(), bytes);
  int64_t release = time;
  for (int64_t next = time + 1; next < before && seconds > 0 && live[next] <= limit; ++next) {
    seconds -= times.of(function.getOrder()[next]->op);
    if (!isWrite(next))
      release = next;
  }
  return release;
}

void CopyPlacement::reserve(int64_t begin, int64_t end, int64_t bytes) {
  for (int64_t time = begin; time <= end; ++time)
    live[time] += bytes;
}
