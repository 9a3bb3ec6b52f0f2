// Where a program's arena lies and its functions run. The core of the runtime knows no target: the
// archive of the program's target, linked after it, defines `openDevice`.
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

/// Memory that is taken beside the arena.
struct MemoryUse {
  std::string name;
  int64_t bytes;
  std::string why;
};

/// Why a program has arenas in other spaces than the device's.
inline constexpr const char *otherArenasReason =
    "planned when the program was compiled: values that steps copy there and back";

/// A byte of one of the program's arenas: the device's unless a space is named.
struct ArenaAddress {
  ArenaAddress(int64_t offset, uint32_t space = MTC_DEVICE) : offset(offset), space(space) {}
  ArenaAddress operator+(int64_t bytes) const { return {offset + bytes, space}; }

  int64_t offset;
  uint32_t space; ///< MtcSpace
};
inline ArenaAddress addressOf(const MtcTensor &tensor) { return {tensor.offset, tensor.space}; }

/// What a device is opened with.
struct DeviceChoice {
  std::string name; ///< as --device has it
  int threads = 1;  ///< of the host, that it may use
  int64_t arenaBytes = 0;
  std::string offloadFolder; ///< of arenas on a disk; "": the default (runtime/abi/offload.h)
};

/// Arenas and what runs over them. Work may be queued: what is asked for runs in the order in which
/// it was asked for, and only `read`, `receive`, `wait` and the destructor wait for it. A fault
/// that a kernel raised is thrown by the function that raised it or by the first of these after it.
class Device {
public:
  /// Bytes [at, at + bytes) of a range, one call after another.
  using Fill = std::function<void(char *to, int64_t at, int64_t bytes)>;
  using Use = std::function<void(const char *from, int64_t at, int64_t bytes)>;

  virtual ~Device() = default;

  /// Fills a range of an arena. Where the host reaches the arena, there and by one call; otherwise
  /// through a buffer, in pieces of a multiple of 1024 bytes but for the last.
  virtual void write(ArenaAddress to, int64_t bytes, const Fill &fill) = 0;
  /// Reads a range of an arena in the same way.
  virtual void read(ArenaAddress from, int64_t bytes, const Use &use) = 0;

  /// Copies a range of an arena to another.
  virtual void copy(ArenaAddress from, ArenaAddress to, int64_t bytes) = 0;

  /// Writes a scalar of at most 8 bytes, in order with what runs.
  virtual void writeScalar(int64_t offset, const void *value, int64_t bytes) = 0;
  /// Keeps the at most 8 bytes that are at an offset when what was asked for so far has run, and
  /// gives a number to `receive` them by. At most 16 may be kept at a time.
  virtual int64_t request(int64_t offset, int64_t bytes) = 0;
  virtual void receive(int64_t request, void *to) = 0;

  /// Addresses of host memory, one for each input, that a batch is to be written to: those of the
  /// next step's inputs, or others for a batch that is read ahead. They stay so until the next call
  /// but one.
  virtual const std::vector<char *> &batchBuffers(bool ahead) = 0;
  /// Makes what was written there the inputs of the functions that follow.
  virtual void takeBatch(bool ahead) = 0;

  /// Prepares the program's functions; to be called once before the first of them. Observers are
  /// told of each operation, which then runs alone.
  virtual void prepare(std::vector<Observer *> observers) = 0;
  /// From here on, tells one other observer too, which makes copies on streams run in turn.
  virtual void observe(Observer &observer) = 0;
  virtual void microStep() = 0;
  virtual void update() = 0;
  virtual void gradients() = 0;
  virtual void evaluate() = 0;
  virtual void computeOutputs() = 0;
  /// Until everything has run.
  virtual void wait() = 0;
  /// How many steps should be queued before the results of the first are asked for.
  virtual int queuedSteps() const = 0;

  /// Bytes read and written a second by a large copy: the best of several. Nothing if the memory
  /// for it cannot be had.
  virtual std::optional<double> copyThroughput() = 0;
  /// Operations a second of a contraction of dense row-major tensors of its own, which starts from
  /// nothing.
  virtual std::optional<double> contractionThroughput(const MtcContraction &plain) = 0;
  /// The maximum taken besides the arena, with the reason.
  virtual std::vector<MemoryUse> memoryBesideArena() = 0;
};

/// A device with zeroed arenas. A mistake of the user if there is no such device or folder, a fault
/// of the system if it cannot be used, or the memory or the room on the disk cannot be had.
std::unique_ptr<Device> openDevice(const MtcProgram &program, const DeviceChoice &choice);

/// The addresses of a program's inputs in an arena at `arena`.
std::vector<char *> inputBuffers(const MtcProgram &program, char *arena);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_DEVICE_H
