// Copies of a function, in order or on separate streams.
#ifndef MTC_RUNTIME_DEVICES_CUDA_STEP_COPIES_H
#define MTC_RUNTIME_DEVICES_CUDA_STEP_COPIES_H

#include "runtime/abi/program.h"
#include "runtime/devices/cuda/gpu.h"
#include "runtime/devices/cuda/handles.h"

#include <map>
#include <memory>
#include <vector>

namespace mtc::runtime::cuda {

/// An MTC_COPY, whose source or destination (or both) is on the device.
class StepCopy {
public:
  StepCopy(const MtcOperation &source, Address arena, char *hostArena)
      : operation(&source), arena(arena), hostArena(hostArena) {}

  uint32_t streamNumber() const { return operation->stream; }
  Result enqueue(const Driver &driver, Stream stream) const;

private:
  Address onDevice(int64_t offset) const { return arena + static_cast<Address>(offset); }

  const MtcOperation *operation;
  Address arena;
  char *hostArena;
};

/// The streams of a function's asynchronous copies, in addition to the function's own stream.
class CopyStreams {
public:
  CopyStreams(const Gpu &gpu, Stream function) : gpu(gpu), function(function) {}

  /// Prepares a copy and returns its end event.
  const OwnedEvent *add(const StepCopy &copy);
  /// Enqueues the next copy, in the order of `add`, after all work that the function has enqueued
  /// so far and after `waits`.
  void enqueue(const StepCopy &copy, const std::vector<const OwnedEvent *> &waits,
               const char *nodes);
  /// Makes the function's stream wait for all copies, at the end of the function, and restarts the
  /// sequence of copies.
  void join();

private:
  struct Events {
    explicit Events(const Driver &driver) : begin(driver), end(driver) {}
    OwnedEvent begin, end;
  };

  const Gpu &gpu;
  Stream function;
  std::map<uint32_t, std::unique_ptr<OwnedStream>> streams; ///< by stream number
  std::vector<std::unique_ptr<Events>> events;              ///< one per copy
  size_t next = 0;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_STEP_COPIES_H
