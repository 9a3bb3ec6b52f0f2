// Ring buffers of pinned slots.
#include "runtime/devices/gpu/small_values.h"

#include "runtime/devices/operation_info.h"

#include <cstring>

namespace mtc::runtime::gpu {

static constexpr const char *stepFails = "the GPU failed while it ran the program";

ScalarWriter::ScalarWriter(const Gpu &gpu, Stream stream)
    : gpu(gpu), stream(stream), slots(gpu.driver, pinnedBytes()) {
  copied.emplace_back(gpu.driver);
  copied.emplace_back(gpu.driver);
}

void ScalarWriter::write(Address to, const void *value, int64_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, value, static_cast<size_t>(bytes));
  auto [last, isNew] = known.try_emplace(to, bits);
  if (!isNew && last->second == bits)
    return;
  last->second = bits;
  const auto half = static_cast<size_t>(next / slotsOfHalf);
  if (next % slotsOfHalf == 0) // Wait for the copies from the previous use of this half, which have
                               // usually completed long ago.
    gpu.waitFor(copied[half], stepFails);
  char *slot = slots.data() + next * slotBytes;
  std::memcpy(slot, &bits, sizeof bits);
  gpu.check(gpu.driver.copyToDevice(to, slot, static_cast<size_t>(bytes), stream), stepFails);
  next = (next + 1) % (2 * slotsOfHalf);
  if (next % slotsOfHalf == 0)
    gpu.check(gpu.driver.recordEvent(copied[half], stream), stepFails);
}

ResultReader::ResultReader(const Gpu &gpu, Stream stream, Address faults,
                           const std::vector<const MtcOperation *> &operations)
    : gpu(gpu), stream(stream), faults(faults), operations(operations),
      slots(gpu.driver, pinnedBytes()) {
  for (int64_t i = 0; i < slotCount; ++i)
    ring.push_back({OwnedEvent(gpu.driver), 0});
}

int64_t ResultReader::slotBytes() const {
  return 8 + static_cast<int64_t>(operations.size() * sizeof(MtcFault));
}

char *ResultReader::slot(int64_t request) const {
  return slots.data() + request % slotCount * slotBytes();
}

int64_t ResultReader::request(Address from, int64_t bytes) {
  Slot &entry = ring[static_cast<size_t>(requests % slotCount)];
  char *to = slot(requests);
  entry.bytes = bytes;
  if (bytes)
    gpu.check(gpu.driver.copyToHost(to, from, static_cast<size_t>(bytes), stream), stepFails);
  if (!operations.empty())
    gpu.check(gpu.driver.copyToHost(to + 8, faults, operations.size() * sizeof(MtcFault), stream),
              stepFails);
  gpu.check(gpu.driver.recordEvent(entry.copied, stream), stepFails);
  return requests++;
}

void ResultReader::receive(int64_t request, void *to) {
  Slot &entry = ring[static_cast<size_t>(request % slotCount)];
  gpu.waitFor(entry.copied, stepFails);
  throwFaults(slot(request) + 8);
  std::memcpy(to, slot(request), static_cast<size_t>(entry.bytes));
}

void ResultReader::wait() {
  // This does not count as a request, because waiting any number of times must not reuse the slot
  // of an outstanding request.
  char *to = slots.data() + slotCount * slotBytes();
  if (!operations.empty())
    gpu.check(gpu.driver.copyToHost(to + 8, faults, operations.size() * sizeof(MtcFault), stream),
              stepFails);
  gpu.waitFor(stream, stepFails);
  throwFaults(to + 8);
}

void ResultReader::throwFaults(const char *records) const {
  for (const MtcOperation *operation : operations) {
    MtcFault fault;
    std::memcpy(&fault, records, sizeof fault);
    if (fault.raised)
      reportFault(*operation, fault);
    records += sizeof fault;
  }
}

} // namespace mtc::runtime::gpu
