#include "runtime/devices/cuda/emulated/execution/device_memory.h"

#include "runtime/support/failure.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sys/mman.h>

namespace mtc::runtime::emulation {

namespace {

constexpr size_t page = 4096;

size_t roundUp(size_t bytes, size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

char *reserve(size_t bytes, int protection) {
  void *range =
      mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED)
    systemError("emulation: ", bytes >> 30,
                " GiB of addresses cannot be reserved: ", std::strerror(errno),
                "; is their number limited (ulimit -v)?");
  return static_cast<char *>(range);
}

} // namespace

DeviceMemory &DeviceMemory::get() {
  static DeviceMemory instance;
  return instance;
}

DeviceMemory::DeviceMemory()
    : memory(reserve(capacity, PROT_NONE)),
      shadow(reinterpret_cast<uint8_t *>(reserve(capacity, PROT_READ))) {}

char *DeviceMemory::allocate(size_t bytes) {
  std::lock_guard lock(mutex);
  // Find the first sufficient gap. Each allocation has its own pages, with a guard before and after
  // them.
  size_t needed = roundUp(std::max<size_t>(bytes, 1), page) + MTC_SHADOW_GUARD;
  size_t begin = MTC_SHADOW_GUARD;
  for (auto [offset, size] : allocations) {
    if (offset - begin >= needed)
      break;
    begin = offset + roundUp(std::max<size_t>(size, 1), page) + MTC_SHADOW_GUARD;
  }
  if (bytes > capacity || begin + needed > capacity)
    return nullptr;
  size_t pages = needed - MTC_SHADOW_GUARD;
  if (mprotect(memory + begin, pages, PROT_READ | PROT_WRITE) ||
      mprotect(shadow + begin, pages, PROT_READ | PROT_WRITE))
    return nullptr;
  std::memset(shadow + begin, MTC_SHADOW_ALLOCATED, bytes);
  allocations[begin] = bytes;
  return memory + begin;
}

void DeviceMemory::release(char *address) {
  if (!address)
    return;
  std::lock_guard lock(mutex);
  auto found = allocations.find(address - memory);
  if (found == allocations.end())
    systemError("emulation: memory is released that was not allocated");
  size_t pages = roundUp(std::max<size_t>(found->second, 1), page);
  // Map fresh pages in place, which frees the old ones and resets the shadow bytes to 0.
  auto replace = [&](void *begin, int protection) {
    if (mmap(begin, pages, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED)
      systemError("emulation: memory cannot be released: ", std::strerror(errno));
  };
  replace(address, PROT_NONE);
  replace(shadowOf(address), PROT_READ);
  allocations.erase(found);
}

void DeviceMemory::markDefined(const void *begin, size_t bytes) {
  std::memset(shadowOf(begin), MTC_SHADOW_ALLOCATED | MTC_SHADOW_DEFINED, bytes);
}

void DeviceMemory::markUndefined(const void *begin, size_t bytes) {
  std::memset(shadowOf(begin), MTC_SHADOW_ALLOCATED, bytes);
}

void DeviceMemory::describe(MtcEmulatedBlock &block) const {
  block.memory = memory;
  block.memory_bytes = capacity - MTC_SHADOW_GUARD;
  block.shadow = shadow;
}

std::string DeviceMemory::findFault(const void *begin, size_t bytes, bool isRead) const {
  if (bytes == 0)
    return "";
  std::lock_guard lock(mutex);
  if (!contains(begin))
    return text(bytes, " bytes at ", begin, ", which is no address of device memory");
  size_t offset = static_cast<const char *>(begin) - memory;
  auto next = allocations.upper_bound(offset);
  size_t before = 0, size = 0; // of the last allocation that does not start after `offset`
  if (next != allocations.begin()) {
    before = std::prev(next)->first;
    size = std::prev(next)->second;
  }
  if (size == 0)
    return text(bytes, " bytes before the first allocation of device memory");
  if (offset + bytes > before + size)
    return text(bytes, " bytes at offset ", offset - before, " of an allocation of ", size,
                " bytes");
  if (isRead)
    for (size_t i = 0; i < bytes; ++i)
      if (!(shadow[offset + i] & MTC_SHADOW_DEFINED))
        return text(bytes, " bytes of which nothing was written to that at offset ",
                    offset + i - before, " of an allocation of ", size, " bytes");
  return "";
}

} // namespace mtc::runtime::emulation
