// Operations of a function that run concurrently with the others.
#ifndef MTC_RUNTIME_DEVICES_GPU_STEP_STREAMS_H
#define MTC_RUNTIME_DEVICES_GPU_STEP_STREAMS_H

#include "runtime/devices/gpu/gpu.h"
#include "runtime/devices/gpu/handles.h"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace mtc::runtime::gpu {

/// The streams of a function's asynchronous operations, in addition to the function's own stream.
class StepStreams {
public:
  StepStreams(const Gpu &gpu, Stream function) : gpu(gpu), function(function) {}

  /// Prepares an operation of a stream, by its number, and returns its end event.
  const OwnedEvent *add(uint32_t number);
  /// Enqueues the next operation, in the order of `add`, after all work that the function has
  /// enqueued so far and after `waits`. `work` enqueues it on the stream that is passed.
  void enqueue(const std::vector<const OwnedEvent *> &waits, const char *nodes,
               const std::function<void(Stream)> &work);
  /// Makes the function's stream wait for all operations, at the end of the function, and restarts
  /// their sequence.
  void join();

private:
  struct Entry {
    Entry(const Driver &driver, Stream stream) : stream(stream), begin(driver), end(driver) {}
    Stream stream;
    OwnedEvent begin, end;
  };

  const Gpu &gpu;
  Stream function;
  std::map<uint32_t, std::unique_ptr<OwnedStream>> streams; ///< by stream number
  std::vector<std::unique_ptr<Entry>> entries;              ///< one per operation
  size_t next = 0;
};

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_STEP_STREAMS_H
