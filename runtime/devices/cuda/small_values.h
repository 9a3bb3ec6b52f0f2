// Scalars that the host writes, and losses and faults that it reads, without waiting for the
// device.
#ifndef MTC_RUNTIME_DEVICES_CUDA_SMALL_VALUES_H
#define MTC_RUNTIME_DEVICES_CUDA_SMALL_VALUES_H

#include "runtime/abi/program.h"
#include "runtime/devices/cuda/gpu.h"
#include "runtime/devices/cuda/handles.h"

#include <cstdint>
#include <map>
#include <vector>

namespace mtc::runtime::cuda {

/// Scalars that the device reads from the arena.
class ScalarWriter {
public:
  ScalarWriter(const Gpu &gpu, Stream stream);

  /// Copies at most 8 bytes after what was asked for; nothing if they were the last ones written
  /// there.
  void write(Address to, const void *value, int64_t bytes);

  static int64_t pinnedBytes() { return 2 * slotsOfHalf * slotBytes; }

private:
  static constexpr int64_t slotBytes = 8, slotsOfHalf = 64;

  const Gpu &gpu;
  Stream stream;
  PinnedMemory slots;             ///< used one after another
  std::vector<OwnedEvent> copied; ///< everything of a half
  int64_t next = 0;               ///< slot
  std::map<Address, uint64_t> known;
};

/// Scalars that the device wrote, each with the faults that were raised until then.
class ResultReader {
public:
  /// `faults` are the records of the operations, zeroed.
  ResultReader(const Gpu &gpu, Stream stream, Address faults,
               const std::vector<const MtcOperation *> &operations);

  /// See Device.
  int64_t request(Address from, int64_t bytes);
  void receive(int64_t request, void *to);
  /// Waits for all work, and throws a fault that it raised.
  void wait();

  /// One slot more than requests have: for faults, where one waits for all work.
  int64_t pinnedBytes() const { return (slotCount + 1) * slotBytes(); }

private:
  static constexpr int64_t slotCount = 16;

  int64_t slotBytes() const;
  char *slot(int64_t request) const;
  void throwFaults(const char *records) const;

  const Gpu &gpu;
  Stream stream;
  Address faults;
  std::vector<const MtcOperation *> operations; ///< that may fault
  PinnedMemory slots;
  struct Slot {
    OwnedEvent copied;
    int64_t bytes;
  };
  std::vector<Slot> ring;
  int64_t requests = 0;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_SMALL_VALUES_H
