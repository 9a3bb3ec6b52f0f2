// Runs a program's functions over its arena.
#ifndef MTC_RUNTIME_DEVICES_CPU_EXECUTOR_H
#define MTC_RUNTIME_DEVICES_CPU_EXECUTOR_H

#include "runtime/abi/cpu.h"
#include "runtime/devices/cpu/copy_streams.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/operation_info.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

class Observer;

/// One entry of a function, with what running it needs.
struct PreparedOperation {
  OperationInfo info;
  const MtcKernel *kernel;      ///< of MTC_LAUNCH
  LibraryCall *call;            ///< of MTC_CALL
  std::vector<char *> operands; ///< null on a disk
};

/// Runs operations one after another, but for copies on streams, which have threads; where there
/// are observers, those too. Everything is prepared in the constructor: addresses, oneDNN's
/// primitives and their memory objects. A run allocates nothing of its own.
class Executor {
public:
  /// A mistake of the user if this machine needs more scratch for a call than was planned.
  Executor(const MtcProgram &program, const Arenas &arenas, int threads,
           std::vector<Observer *> observers = {});
  ~Executor();

  void observe(Observer &observer) { observers.push_back(&observer); }
  void microStep() { run(microStepOperations); }
  void update() { run(updateOperations); }
  void gradients() { run(gradientsOperations); }
  void evaluate() { run(evaluateOperations); }
  void computeOutputs() { run(outputsOperations); }

private:
  std::vector<PreparedOperation> prepare(const MtcFunction &function);
  LibraryCall &call(const MtcOperation &operation);
  void run(std::vector<PreparedOperation> &operations);
  void runOne(PreparedOperation &operation);
  void copy(PreparedOperation &operation);
  void launch(PreparedOperation &operation);

  const MtcProgram &program;
  const Arenas &arenas;
  int threads;
  std::vector<Observer *> observers;
  std::optional<BouncePages> bounce; ///< where the program has an arena on a disk
  size_t preparedCount = 0;
  std::vector<std::unique_ptr<LibraryCall>> calls;
  std::vector<MtcFault> faults; ///< one for each thread
  std::vector<PreparedOperation> microStepOperations, updateOperations, gradientsOperations,
      evaluateOperations, outputsOperations;
  CopyStreams streams;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_EXECUTOR_H
