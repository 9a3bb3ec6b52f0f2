// RAII wrappers of driver objects.
#ifndef MTC_RUNTIME_DEVICES_GPU_HANDLES_H
#define MTC_RUNTIME_DEVICES_GPU_HANDLES_H

#include "runtime/devices/gpu/driver.h"

#include <cstdint>
#include <utility>

namespace mtc::runtime::gpu {

/// Device memory, owned or borrowed. Its address is 0 if it is empty.
class DeviceMemory {
public:
  DeviceMemory() = default;
  /// Allocates memory; empty if the device is out of memory.
  DeviceMemory(const Driver &driver, int64_t bytes) : driver(&driver) {
    if (bytes > 0 && driver.allocate(&start, static_cast<size_t>(bytes)) != success)
      start = 0;
  }
  /// Borrows memory that outlives the object.
  explicit DeviceMemory(Address borrowed) : start(borrowed) {}
  DeviceMemory(DeviceMemory &&other) noexcept { *this = std::move(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    std::swap(driver, other.driver);
    std::swap(start, other.start);
    return *this;
  }
  ~DeviceMemory() {
    if (driver && start)
      driver->release(start);
  }

  Address address() const { return start; }

private:
  const Driver *driver = nullptr; ///< null if the memory is borrowed
  Address start = 0;
};

/// Page-locked host memory, which the device copies asynchronously.
class PinnedMemory {
public:
  PinnedMemory(const Driver &driver, int64_t bytes) : driver(&driver) {
    if (bytes > 0)
      check(driver, driver.allocatePinned(&start, static_cast<size_t>(bytes), 0),
            "memory of the host for copies cannot be had");
  }
  PinnedMemory(PinnedMemory &&other) noexcept
      : driver(other.driver), start(std::exchange(other.start, nullptr)) {}
  ~PinnedMemory() {
    if (start)
      driver->releasePinned(start);
  }

  char *data() const { return static_cast<char *>(start); }

private:
  const Driver *driver;
  void *start = nullptr;
};

/// A stream: work that executes in issue order.
class OwnedStream {
public:
  explicit OwnedStream(const Driver &driver) : driver(&driver) {
    check(driver, driver.createStream(&stream, nonBlockingStream), "no stream can be made");
  }
  OwnedStream(const OwnedStream &) = delete;
  OwnedStream &operator=(const OwnedStream &) = delete;
  ~OwnedStream() { driver->destroyStream(stream); }

  operator Stream() const { return stream; }

private:
  const Driver *driver;
  Stream stream = nullptr;
};

/// An event: a position in a stream's work.
class OwnedEvent {
public:
  explicit OwnedEvent(const Driver &driver, unsigned flags = untimedEvent) : driver(&driver) {
    check(driver, driver.createEvent(&event, flags), "no event can be made");
  }
  OwnedEvent(OwnedEvent &&other) noexcept
      : driver(other.driver), event(std::exchange(other.event, nullptr)) {}
  ~OwnedEvent() {
    if (event)
      driver->destroyEvent(event);
  }

  operator Event() const { return event; }

private:
  const Driver *driver;
  Event event = nullptr;
};

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_HANDLES_H
