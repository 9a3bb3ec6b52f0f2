// A function of a program on the GPU.
#ifndef MTC_RUNTIME_DEVICES_GPU_STEP_H
#define MTC_RUNTIME_DEVICES_GPU_STEP_H

#include "runtime/devices/gpu/handles.h"
#include "runtime/devices/gpu/host_launch.h"
#include "runtime/devices/gpu/platform.h"
#include "runtime/devices/gpu/step_copy.h"
#include "runtime/devices/gpu/step_streams.h"
#include "runtime/devices/gpu/step_transfer.h"
#include "runtime/devices/observer.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime::gpu {

/// The state that is needed to prepare functions.
struct StepContext {
  const Gpu &gpu;
  const MtcProgram &program;
  KernelImages &images;
  Platform &platform;
  Stream stream;
  Address arena;
  char *hostArena; ///< pinned memory
  int threads;     ///< number of threads of kernels on the host
  Address faults;
  /// Operations that have a fault record, in the order of the records.
  std::vector<const MtcOperation *> &faulting;
  size_t &operationCount;     ///< number of operations in all functions so far
  Ranks *ranks;               ///< null: this process alone
  DeviceTransport *transport; ///< null if there are no other ranks
};

/// The operations of a function. The first run enqueues them one by one, because libraries load
/// their code then; later runs launch a CUDA graph.
class Step {
public:
  /// Loads the kernels and lets libraries select their algorithms. Throws a system error, with the
  /// nodes, if the device does not support an operation.
  Step(const StepContext &context, const MtcFunction &function);
  ~Step();
  Step(const Step &) = delete;
  Step &operator=(const Step &) = delete;

  void run();
  /// Runs one operation at a time, waits for its end and notifies the observers.
  void observe(const std::vector<Observer *> &observers);

private:
  struct Launch {
    Function function;
    const MtcGpuLaunch *source;
  };
  struct Prepared {
    OperationInfo info;
    std::vector<Launch> launches;
    std::vector<Address> operands; ///< arguments of a launch, including the fault record
    std::unique_ptr<PreparedCall> call;
    std::optional<HostLaunch> hostLaunch;
    std::optional<StepCopy> copy;
    std::optional<StepTransfer> transfer;
    std::vector<const OwnedEvent *> waits; ///< end events of operations on streams
  };

  void prepareLaunch(const StepContext &context, Prepared &operation);
  /// Prepares a library call, or the program's own code if no library computes the call.
  void prepareCall(const StepContext &context, Prepared &operation, const MtcOperation &source);
  /// Enqueues one operation. Operations on streams are enqueued in order if `isObserved`.
  void enqueue(Prepared &operation, bool isObserved = false);
  /// Enqueues one operation on a stream.
  void enqueueOn(Stream target, Prepared &operation);
  void enqueueAll();
  void capture();
  /// Connects the ranks, and counts the bytes that this run sends to others.
  void beginTransfers();

  const Gpu &gpu;
  Stream stream;
  Ranks *ranks;
  DeviceTransport *transport;
  StepStreams streams;
  std::deque<Prepared> operations; ///< with stable addresses, which observers keep
  std::vector<OwnedEvent> borders; ///< events between operations, if they are observed
  ExecutableGraph graph = nullptr;
  bool hasRun = false;
};

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_STEP_H
