// Copies on streams and their events.
#include "runtime/devices/cuda/step_copies.h"

#include "runtime/support/failure.h"

namespace mtc::runtime::cuda {

Result StepCopy::enqueue(const Driver &driver, Stream stream) const {
  const int64_t from = operation->operands[0], to = operation->operands[1];
  const auto bytes = static_cast<size_t>(operation->bytes);
  if (operation->source_space != MTC_DEVICE)
    return driver.copyToDevice(onDevice(to), hostArena + from, bytes, stream);
  if (operation->destination_space != MTC_DEVICE)
    return driver.copyToHost(hostArena + to, onDevice(from), bytes, stream);
  return driver.copyOnDevice(onDevice(to), onDevice(from), bytes, stream);
}

const OwnedEvent *CopyStreams::add(const StepCopy &copy) {
  auto &stream = streams[copy.streamNumber()];
  if (!stream)
    stream = std::make_unique<OwnedStream>(gpu.driver);
  return &events.emplace_back(std::make_unique<Events>(gpu.driver))->end;
}

void CopyStreams::enqueue(const StepCopy &copy, const std::vector<const OwnedEvent *> &waits,
                          const char *nodes) {
  const Stream stream = *streams.at(copy.streamNumber());
  const Events &own = *events[next++];
  auto checkOne = [&](Result result) {
    if (result != success)
      gpu.check(result, text(nodes, ": a copy cannot be run").c_str());
  };
  checkOne(gpu.driver.recordEvent(own.begin, function));
  checkOne(gpu.driver.letStreamWait(stream, own.begin, 0));
  for (const OwnedEvent *wait : waits)
    checkOne(gpu.driver.letStreamWait(stream, *wait, 0));
  checkOne(copy.enqueue(gpu.driver, stream));
  checkOne(gpu.driver.recordEvent(own.end, stream));
}

void CopyStreams::join() {
  for (const auto &each : events)
    gpu.check(gpu.driver.letStreamWait(function, each->end, 0), "copies cannot be waited for");
  next = 0;
}

} // namespace mtc::runtime::cuda
