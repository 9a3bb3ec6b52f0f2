// Copies of a function, in its order or on streams of their own.
#ifndef MTC_RUNTIME_DEVICES_CUDA_STEP_COPIES_H
#define MTC_RUNTIME_DEVICES_CUDA_STEP_COPIES_H

#include "runtime/abi/program.h"
#include "runtime/devices/cuda/gpu.h"
#include "runtime/devices/cuda/handles.h"

#include <map>
#include <memory>
#include <vector>

namespace mtc::runtime::cuda {

/// The two ends of a copy, at least one of them on the device.
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

/// The streams that copies of a function run on, beside the function's own.
class CopyStreams {
public:
  CopyStreams(const Gpu &gpu, Stream function) : gpu(gpu), function(function) {}

  /// Prepares a copy; gives the event of its end.
  const OwnedEvent *add(const StepCopy &copy);
  /// Asks for the next of the copies, in the order in which they were added: after what the
  /// function has asked for so far and after `waits`.
  void enqueue(const StepCopy &copy, const std::vector<const OwnedEvent *> &waits,
               const char *nodes);
  /// Lets the function wait for all copies: its end, after which the copies begin anew.
  void join();

private:
  struct Events {
    explicit Events(const Driver &driver) : begin(driver), end(driver) {}
    OwnedEvent begin, end;
  };

  const Gpu &gpu;
  Stream function;
  std::map<uint32_t, std::unique_ptr<OwnedStream>> streams; ///< by their number
  std::vector<std::unique_ptr<Events>> events;              ///< of each copy
  size_t next = 0;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_STEP_COPIES_H
