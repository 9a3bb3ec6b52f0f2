// Selects the device.
#include "runtime/devices/gpu/gpu.h"

#include "runtime/support/failure.h"

#include <charconv>

namespace mtc::runtime::gpu {

Gpu::Gpu(const Driver &driver, const std::string &ordinal, int process) : driver(driver) {
  const std::string cannotBeUsed = text("the ", driver.vendor, " driver cannot be used");
  const Result started = driver.init(0);
  int count = 0;
  if (started != noDevice) {
    check(started, cannotBeUsed.c_str());
    check(driver.deviceCount(&count), cannotBeUsed.c_str());
  }
  if (count == 0)
    systemError("this program runs on an ", driver.vendor,
                " GPU, and the driver finds none in this machine (", driver.visibleDevices,
                " may hide them); compile with --target cpu to run without");
  int number = process % count;
  auto [end, error] = std::from_chars(ordinal.data(), ordinal.data() + ordinal.size(), number);
  if (!ordinal.empty() && (error != std::errc() || end != ordinal.data() + ordinal.size() ||
                           number < 0 || number >= count))
    userError("--device ", ordinal, ": expected the number of a GPU from 0 to ", count - 1);
  check(driver.device(&device, number), "the GPU cannot be used");
  char name[256] = {};
  check(driver.deviceName(name, sizeof name - 1, device), "the GPU does not report its name");
  deviceName = name;
  check(driver.retainContext(&context, device), "the GPU cannot be used");
  makeCurrent();
}

Gpu::~Gpu() {
  if (context)
    driver.releaseContext(device);
}

int Gpu::attribute(int number) const {
  int value = 0;
  check(driver.deviceAttribute(&value, number, device), "the GPU does not report its attributes");
  return value;
}

std::string Gpu::identity() const {
  DeviceIdentity identity = {};
  check(driver.deviceIdentity(&identity, device), "the GPU does not report its identity");
  std::string digits;
  for (const unsigned char byte : identity.bytes)
    for (const int shift : {4, 0})
      digits += "0123456789abcdef"[byte >> shift & 15];
  return digits;
}

void Gpu::waitFor(Stream stream, const char *what) const {
  check(waiter ? waiter->wait([&] { return driver.queryStream(stream); })
               : driver.waitForStream(stream),
        what);
}

void Gpu::waitFor(Event event, const char *what) const {
  check(waiter ? waiter->wait([&] { return driver.queryEvent(event); })
               : driver.waitForEvent(event),
        what);
}

Gpu::Memory Gpu::memory() const {
  size_t free = 0, total = 0;
  check(driver.memoryInfo(&free, &total), "the GPU does not report its memory");
  return {static_cast<int64_t>(free), static_cast<int64_t>(total)};
}

} // namespace mtc::runtime::gpu
