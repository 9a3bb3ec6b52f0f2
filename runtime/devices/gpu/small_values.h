// Asynchronous transfer of scalars to the device, and of losses and faults to the host.
#ifndef MTC_RUNTIME_DEVICES_GPU_SMALL_VALUES_H
#define MTC_RUNTIME_DEVICES_GPU_SMALL_VALUES_H

#include "runtime/abi/program.h"
#include "runtime/devices/gpu/gpu.h"
#include "runtime/devices/gpu/handles.h"

#include <cstdint>
#include <map>
#include <vector>

namespace mtc::runtime::gpu {

/// Writes scalars to the arena.
class ScalarWriter {
public:
  ScalarWriter(const Gpu &gpu, Stream stream);

  /// Enqueues a copy of at most 8 bytes; does nothing if the value equals the last one written to
  /// the same address.
  void write(Address to, const void *value, int64_t bytes);

  static int64_t pinnedBytes() { return 2 * slotsOfHalf * slotBytes; }

private:
  static constexpr int64_t slotBytes = 8, slotsOfHalf = 64;

  const Gpu &gpu;
  Stream stream;
  PinnedMemory slots;             ///< used in rotation
  std::vector<OwnedEvent> copied; ///< end of all copies of each half
  int64_t next = 0;               ///< next slot
  std::map<Address, uint64_t> known;
};

/// Reads scalars that the device wrote, together with the faults raised until then.
class ResultReader {
public:
  /// `faults` are the zeroed fault records of the operations.
  ResultReader(const Gpu &gpu, Stream stream, Address faults,
               const std::vector<const MtcOperation *> &operations);

  /// See Device.
  int64_t request(Address from, int64_t bytes);
  void receive(int64_t request, void *to);
  /// Waits for all work and throws a raised fault.
  void wait();

  /// Returns the pinned memory size: one slot more than outstanding requests, for the faults that
  /// `wait` reads.
  int64_t pinnedBytes() const { return (slotCount + 1) * slotBytes(); }

private:
  static constexpr int64_t slotCount = 16;

  int64_t slotBytes() const;
  char *slot(int64_t request) const;
  void throwFaults(const char *records) const;

  const Gpu &gpu;
  Stream stream;
  Address faults;
  std::vector<const MtcOperation *> operations; ///< operations that may fault
  PinnedMemory slots;
  struct Slot {
    OwnedEvent copied;
    int64_t bytes;
  };
  std::vector<Slot> ring;
  int64_t requests = 0;
};

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_SMALL_VALUES_H
