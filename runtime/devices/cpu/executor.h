// Runs a program's functions over its arenas.
#ifndef MTC_RUNTIME_DEVICES_CPU_EXECUTOR_H
#define MTC_RUNTIME_DEVICES_CPU_EXECUTOR_H

#include "runtime/abi/cpu.h"
#include "runtime/collectives/stage_message.h"
#include "runtime/collectives/transfer.h"
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

/// An operation of a function with its prepared arguments.
struct PreparedOperation {
  OperationInfo info;
  const MtcKernel *kernel;            ///< set for MTC_LAUNCH
  LibraryCall *call;                  ///< set for MTC_CALL
  std::unique_ptr<Transfer> transfer; ///< set for MTC_TRANSFER
  std::vector<char *> operands;       ///< null for operands on disk
};

/// Runs operations in order, except for copies on streams, which run on separate threads, and
/// transfers on streams, which progress between operations, unless there are observers. Messages to
/// other pipeline stages progress between operations, too. The constructor prepares everything:
/// addresses, messages, oneDNN primitives and their memory objects. Runs allocate no memory of
/// their own.
class Executor {
public:
  /// Throws a user error if a call needs more scratch on this machine than was planned.
  Executor(const MtcProgram &program, const Arenas &arenas, int threads,
           std::vector<Observer *> observers = {}, Ranks *ranks = nullptr);
  ~Executor();

  void observe(Observer &observer) { observers.push_back(&observer); }
  /// Runs a function of the program, by its index.
  void call(uint32_t function) { run(functions[function]); }
  /// Starts a message of the program, by its index, and waits for it.
  void startMessage(uint32_t message) { messages[message].start(); }
  void waitForMessage(uint32_t message) { messages[message].wait(); }

private:
  std::vector<PreparedOperation> prepare(const MtcFunction &function);
  LibraryCall &prepareCall(const MtcOperation &operation);
  void progress();
  void run(std::vector<PreparedOperation> &operations);
  void runOne(PreparedOperation &operation);
  void observeOne(PreparedOperation &operation);
  void repeat(std::vector<PreparedOperation> &operations, size_t first);
  void startTransfer(Transfer &transfer);
  void waitForTransfer(const Transfer &transfer);
  void waitForOperations(std::vector<PreparedOperation> &operations, const MtcOperation &waiting);
  void copy(PreparedOperation &operation);
  void launch(PreparedOperation &operation);

  const MtcProgram &program;
  const Arenas &arenas;
  int threads;
  std::vector<Observer *> observers;
  std::optional<BouncePages> bounce; ///< if the program has a disk arena
  size_t preparedCount = 0;
  std::optional<Ranks> alone; ///< if the program runs in one process
  Ranks &ranks;
  std::vector<std::unique_ptr<LibraryCall>> calls;
  std::vector<MtcFault> faults; ///< one per thread
  std::vector<std::vector<PreparedOperation>> functions;
  CopyStreams streams;
  std::vector<Transfer *> transfers; ///< those of the running function that have been started
  std::vector<StageMessage> messages;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_EXECUTOR_H
