// One function of a program on the device.
#ifndef MTC_RUNTIME_DEVICES_CUDA_STEP_H
#define MTC_RUNTIME_DEVICES_CUDA_STEP_H

#include "runtime/devices/cuda/call.h"
#include "runtime/devices/cuda/handles.h"
#include "runtime/devices/cuda/images.h"
#include "runtime/devices/cuda/step_copies.h"
#include "runtime/devices/observer.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime::cuda {

/// What functions are prepared with.
struct StepContext {
  const Gpu &gpu;
  const MtcProgram &program;
  KernelImages &images;
  Libraries &libraries;
  Stream stream;
  Address arena;
  char *hostArena; ///< in pinned memory
  Address faults;
  std::vector<const MtcOperation *> &faulting; ///< operations with a record each, in its order
  size_t &operationCount;                      ///< of all functions so far
};

/// The operations of a function. The first run asks for one after another, since libraries load
/// their code then; later ones launch a graph of them.
class Step {
public:
  /// Finds the kernels and lets the library choose its algorithms. A fault of the system, with the
  /// nodes, if the device has something not.
  Step(const StepContext &context, const MtcFunction &function);
  ~Step();
  Step(const Step &) = delete;
  Step &operator=(const Step &) = delete;

  void run();
  /// Runs operation by operation, waits for the end and tells observers.
  void observe(const std::vector<Observer *> &observers);

private:
  struct Launch {
    Function function;
    const MtcCudaLaunch *source;
  };
  struct Prepared {
    OperationInfo info;
    std::vector<Launch> launches;
    std::vector<Address> operands; ///< of a launch, with the fault record
    std::unique_ptr<PreparedCall> call;
    std::optional<StepCopy> copy;
    std::vector<const OwnedEvent *> waits; ///< ends of copies on streams
  };

  void prepareLaunch(const StepContext &context, Prepared &operation);
  /// Gives the operation to a library, unless the program's own code is what computes it here.
  void prepareCall(const StepContext &context, Prepared &operation, const MtcOperation &source);
  /// Asks for one operation; copies on streams, too, run in order where `isObserved`.
  void enqueue(Prepared &operation, bool isObserved = false);
  void enqueueAll();
  void capture();

  const Gpu &gpu;
  Stream stream;
  CopyStreams copyStreams;
  std::deque<Prepared> operations; ///< observers keep addresses of them
  std::vector<OwnedEvent> borders; ///< between operations, when they are observed
  ExecutableGraph graph = nullptr;
  bool hasRun = false;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_STEP_H
