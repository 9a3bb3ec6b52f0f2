// Moves bytes in device memory between the ranks of a program. runtime/collectives/nccl implements
// it.
#ifndef MTC_RUNTIME_DEVICES_GPU_DEVICE_TRANSPORT_H
#define MTC_RUNTIME_DEVICES_GPU_DEVICE_TRANSPORT_H

#include "runtime/collectives/transfer_messages.h"
#include "runtime/devices/device.h"
#include "runtime/devices/gpu/gpu.h"

#include <memory>
#include <optional>
#include <string>

namespace mtc::runtime::gpu {

/// Messages to and from other ranks, between the same ranges of device memory each time.
class DeviceExchange {
public:
  virtual ~DeviceExchange() = default;
  /// Enqueues all messages. Throws a system error if the library fails.
  virtual void enqueue(Stream stream) const = 0;
};

class DeviceTransport {
public:
  /// Ends the use of the transport. All exchanges and graphs that contain them must have been
  /// destroyed.
  virtual ~DeviceTransport() = default;

  /// Prepares messages by rank, before `connect`. All ranks prepare the same exchanges in the same
  /// order. `what` names the exchange in messages.
  virtual std::unique_ptr<DeviceExchange>
  prepare(std::vector<Message> sent, std::vector<Message> received, std::string what) = 0;
  /// Returns whether a single rank sends what it copies to itself, so that the library is used.
  virtual bool sendsToItself() const = 0;
  /// Connects the devices of all ranks. All ranks must call it; later calls have no effect.
  virtual void connect() = 0;

  /// Throws a system error, or ends all ranks, if the library has failed.
  virtual void check() = 0;
  /// Ends exchanges that wait for other ranks. Only the destructor may be called after it.
  virtual void abort() = 0;
  /// Returns the name of the exchange that the device runs; "" if it runs none.
  virtual std::string running() const = 0;
  /// Returns whether the device runs no exchange, or runs a different one than at the previous
  /// call.
  virtual bool hasAdvanced() = 0;
  /// Returns the device memory that the library has allocated; nullopt before `connect`.
  virtual std::optional<MemoryUse> memory() const = 0;
};

/// Returns the transport of a program that exchanges values with other ranks; null if none is
/// needed.
std::unique_ptr<DeviceTransport> openDeviceTransport(const Gpu &gpu, Ranks &ranks);

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_DEVICE_TRANSPORT_H
