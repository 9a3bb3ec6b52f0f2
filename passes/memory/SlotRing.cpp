//===- SlotRing.cpp - Slots of windows of offloaded operands ----------------------------------===//

#include "passes/memory/SlotRing.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;

SlotRing::SlotRing(TransferSlotsOp slots, int64_t offset) {
  if (!slots)
    return;
  bytes = static_cast<int64_t>(slots.getSize());
  for (int64_t slot = 0; slot < static_cast<int64_t>(slots.getCount()); ++slot)
    own.push_back(offset + slot * bytes);
  usable = own;
}

void SlotRing::setFree(ArrayRef<FreeRange> ranges) {
  if (own.empty())
    return;
  usable = own;
  // Slots are at multiples of their size, so that kernels with similar free ranges share slots.
  for (auto [begin, end] : ranges)
    for (int64_t slot = own.front() + llvm::alignTo(begin - own.front(), bytes);
         slot + bytes <= end && usable.size() < maxSlots; slot += bytes)
      usable.push_back(slot);
  auto key = [&](int64_t slot) {
    auto known = lastUse.find(slot);
    return std::pair(known == lastUse.end() ? -1 : known->second, slot);
  };
  llvm::sort(usable, [&](int64_t a, int64_t b) { return key(a) < key(b); });
  next = 0;
}

int64_t SlotRing::takeNext() {
  const int64_t slot = usable[next++ % usable.size()];
  lastUse[slot] = count++;
  return slot;
}
