// Objects of the driver that are given back at the end of their scope.
#ifndef MTC_RUNTIME_DEVICES_CUDA_HANDLES_H
#define MTC_RUNTIME_DEVICES_CUDA_HANDLES_H

#include "runtime/devices/cuda/driver.h"

#include <cstdint>
#include <utility>

namespace mtc::runtime::cuda {

/// Memory of the device. Its address is 0 if there is none.
class DeviceMemory {
public:
  DeviceMemory() = default;
  /// Empty if the device has no more.
  DeviceMemory(const Driver &driver, int64_t bytes) : driver(&driver) {
    if (bytes > 0 && driver.allocate(&start, static_cast<size_t>(bytes)) != success)
      start = 0;
  }
  DeviceMemory(DeviceMemory &&other) noexcept { *this = std::move(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    std::swap(driver, other.driver);
    std::swap(start, other.start);
    return *this;
  }
  ~DeviceMemory() {
    if (start)
      driver->release(start);
  }

  Address address() const { return start; }

private:
  const Driver *driver = nullptr;
  Address start = 0;
};

/// Memory of the host that the device copies from and to while the host goes on.
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

/// Work that runs in the order in which it was asked for.
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

/// A point in a stream's work.
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

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_HANDLES_H
