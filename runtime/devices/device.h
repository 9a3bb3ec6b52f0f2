// The device that holds a program's arenas and runs its functions. The runtime core is independent
// of the target: the archive of the program's target, which is linked after it, defines
// `openDevice`.
#ifndef MTC_RUNTIME_DEVICES_DEVICE_H
#define MTC_RUNTIME_DEVICES_DEVICE_H

#include "runtime/abi/contraction.h"
#include "runtime/devices/observer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

class Ranks;

/// Memory that is allocated outside the arena.
struct MemoryUse {
  std::string name;
  int64_t bytes;
  std::string why;
};

/// Copies to and from the arena on disk. Each of several concurrent ones counts.
struct DiskTraffic {
  int64_t bytes = 0;
  double seconds = 0;
};

/// Reason for arenas in memory spaces other than the device's.
inline constexpr const char *otherArenasReason =
    "planned when the program was compiled: values that steps copy there and back";

/// The address of a byte in one of the program's arenas, by default the device arena.
struct ArenaAddress {
  ArenaAddress(int64_t offset, uint32_t space = MTC_DEVICE) : offset(offset), space(space) {}
  ArenaAddress operator+(int64_t bytes) const { return {offset + bytes, space}; }

  int64_t offset;
  uint32_t space; ///< MtcSpace
};
inline ArenaAddress addressOf(const MtcTensor &tensor) { return {tensor.offset, tensor.space}; }

/// Options for opening a device.
struct DeviceChoice {
  std::string name; ///< the value of --device
  int threads = 1;  ///< number of host threads
  int64_t arenaBytes = 0;
  /// Folder of arenas on disk, or several, separated by commas; "": the default
  /// (runtime/abi/offload.h)
  std::string offloadFolder;
  /// Memory of the device for the arena, of at least `arenaBytes` bytes, aligned to MTC_ALIGNMENT;
  /// null: the device allocates it. It must outlive the device.
  void *memory = nullptr;
  Ranks *ranks = nullptr; ///< the processes that train together; null: this one
};

/// The arenas and functions of a program. Calls may only queue their work, which executes in issue
/// order; only `read`, `receive`, `wait` and the destructor wait for it. A kernel's fault is thrown
/// by the function that raised it, or by the first such call after that function.
class Device {
public:
  /// Callbacks for bytes [at, at + bytes) of a range, in consecutive chunks.
  using Fill = std::function<void(char *to, int64_t at, int64_t bytes)>;
  using Use = std::function<void(const char *from, int64_t at, int64_t bytes)>;

  /// `ranks` are the processes that train together; null: this one alone.
  explicit Device(Ranks *ranks = nullptr) : processes(ranks) {}
  virtual ~Device() = default;

  /// Returns the processes that train together; null if this one is alone.
  Ranks *ranks() const { return processes; }

  /// Runs `action`, which calls functions of the device, with the settings that the device needs in
  /// the calling thread: the thread that opened the device, or another one.
  virtual void onThisThread(const std::function<void()> &action) { action(); }

  /// Writes a range of an arena. Arenas that the host can access are written in place by one call.
  /// Other arenas are written through a buffer, in chunks that are multiples of 1024 bytes except
  /// for the last.
  virtual void write(ArenaAddress to, int64_t bytes, const Fill &fill) = 0;
  /// Reads a range of an arena, in chunks as for `write`.
  virtual void read(ArenaAddress from, int64_t bytes, const Use &use) = 0;

  /// Copies a range of an arena to another.
  virtual void copy(ArenaAddress from, ArenaAddress to, int64_t bytes) = 0;

  /// Writes a scalar of at most 8 bytes, in order with queued work.
  virtual void writeScalar(int64_t offset, const void *value, int64_t bytes) = 0;
  /// Captures at most 8 bytes at an offset once the work queued so far has completed, and returns a
  /// number for `receive`. At most 16 requests may be outstanding.
  virtual int64_t request(int64_t offset, int64_t bytes) = 0;
  virtual void receive(int64_t request, void *to) = 0;

  /// Returns the host addresses, one for each input, to which a batch is to be written: the inputs
  /// of the next step, or a separate buffer for a batch that is read ahead. The addresses remain
  /// valid until the next call but one. Null: only other pipeline stages read the input.
  virtual const std::vector<char *> &batchBuffers(bool ahead) = 0;
  /// Makes the data written there the inputs of the following functions.
  virtual void takeBatch(bool ahead) = 0;

  /// Prepares the program's functions. Must be called once before the first of them. If there are
  /// observers, operations run one at a time and each is reported.
  virtual void prepare(std::vector<Observer *> observers) = 0;
  /// Adds an observer for the following operations. Copies on streams then run in order.
  virtual void observe(Observer &observer) = 0;
  /// Runs a function of the program, by its index in MtcProgram::functions.
  virtual void call(uint32_t function) = 0;
  /// Runs the functions of a sequence of the program.
  void run(const MtcSequence &sequence) {
    for (uint32_t i = 0; i < sequence.count; ++i)
      call(sequence.functions[i]);
  }
  /// Starts a message to or from another pipeline stage, by its index in MtcProgram::messages. Its
  /// ranges of the arena are in use until `waitForMessage`.
  virtual void startMessage(uint32_t message);
  /// Waits until a message that was started has been sent or received.
  virtual void waitForMessage(uint32_t message);
  /// Waits for all queued work.
  virtual void wait() = 0;
  /// Returns the traffic of the arena on disk so far, with variables and steps.
  virtual DiskTraffic diskTraffic() const { return {}; }
  /// Returns the number of steps to queue before requesting the results of the first.
  virtual int queuedSteps() const = 0;

  /// Returns the bytes read and written per second by a large copy, the best of several; nullopt if
  /// its memory cannot be allocated.
  virtual std::optional<double> copyThroughput() = 0;
  /// Returns the operations per second of a contraction in the form of `plainContraction`, in the
  /// fastest of its algorithms.
  virtual std::optional<double> contractionThroughput(const MtcContraction &plain) = 0;
  /// Returns the operations per second of multiplications of elements of an MtcType and additions
  /// in registers; nullopt if it is unknown.
  virtual std::optional<double> registerThroughput(uint32_t type) = 0;
  /// Returns the maximum memory allocated outside the arena, with reasons.
  virtual std::vector<MemoryUse> memoryOutsideArena() = 0;

private:
  Ranks *processes;
};

/// Opens a device with zeroed arenas. Throws a user error if the device or folder does not exist,
/// and a system error if the device cannot be used, or if memory or disk space cannot be allocated.
std::unique_ptr<Device> openDevice(const MtcProgram &program, const DeviceChoice &choice);

/// Throws a user error if the program has pipeline stages. For devices that have no messages.
void refuseStages(const MtcProgram &program);

/// Returns the addresses of a program's inputs in the arena at `arena`; null for inputs that only
/// other pipeline stages read.
std::vector<char *> inputBuffers(const MtcProgram &program, char *arena);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_DEVICE_H
