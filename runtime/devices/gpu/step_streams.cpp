// Streams and events of asynchronous operations.
#include "runtime/devices/gpu/step_streams.h"

#include "runtime/support/failure.h"

namespace mtc::runtime::gpu {

const OwnedEvent *StepStreams::add(uint32_t number) {
  auto &stream = streams[number];
  if (!stream)
    stream = std::make_unique<OwnedStream>(gpu.driver);
  return &entries.emplace_back(std::make_unique<Entry>(gpu.driver, *stream))->end;
}

void StepStreams::enqueue(const std::vector<const OwnedEvent *> &waits, const char *nodes,
                          const std::function<void(Stream)> &work) {
  const Entry &own = *entries[next++];
  auto checkOne = [&](Result result) {
    if (result != success)
      gpu.check(result, text(nodes, ": an asynchronous operation cannot be run").c_str());
  };
  checkOne(gpu.driver.recordEvent(own.begin, function));
  checkOne(gpu.driver.letStreamWait(own.stream, own.begin, 0));
  for (const OwnedEvent *wait : waits)
    checkOne(gpu.driver.letStreamWait(own.stream, *wait, 0));
  work(own.stream);
  checkOne(gpu.driver.recordEvent(own.end, own.stream));
}

void StepStreams::join() {
  for (const auto &each : entries)
    gpu.check(gpu.driver.letStreamWait(function, each->end, 0),
              "asynchronous operations cannot be waited for");
  next = 0;
}

} // namespace mtc::runtime::gpu
