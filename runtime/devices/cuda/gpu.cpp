// Selects the device.
#include "runtime/devices/cuda/gpu.h"

#include "runtime/support/failure.h"

#include <charconv>

namespace mtc::runtime::cuda {

static std::string versionText(int version) {
  return text(version / 1000, ".", version % 1000 / 10);
}

/// Opens the driver and checks its version, before any other use of the driver.
static const Driver &openFittingDriver(const MtcCudaProgram &program) {
  const Driver &driver = openDriver();
  int version = 0;
  check(driver, driver.driverVersion(&version), "the NVIDIA driver does not say its version");
  if (version < static_cast<int>(program.driver_version))
    systemError("the installed NVIDIA driver is for CUDA ", versionText(version),
                "; this program's code needs one for CUDA ",
                versionText(static_cast<int>(program.driver_version)),
                " or later: update the driver");
  return driver;
}

Gpu::Gpu(const MtcCudaProgram &program, const std::string &ordinal, int process)
    : driver(openFittingDriver(program)) {
  constexpr auto noDevice = static_cast<Result>(100); // CUDA_ERROR_NO_DEVICE
  Result started = driver.init(0);
  int count = 0;
  if (started != noDevice) {
    check(started, "the NVIDIA driver cannot be used");
    check(driver.deviceCount(&count), "the NVIDIA driver cannot be used");
  }
  if (count == 0)
    systemError("this program runs on an NVIDIA GPU, and the driver finds none in this machine "
                "(CUDA_VISIBLE_DEVICES may hide them); compile with --target cpu to run without");
  int number = process % count;
  auto [end, error] = std::from_chars(ordinal.data(), ordinal.data() + ordinal.size(), number);
  if (!ordinal.empty() && (error != std::errc() || end != ordinal.data() + ordinal.size() ||
                           number < 0 || number >= count))
    userError("--device ", ordinal, ": expected the number of a GPU from 0 to ", count - 1);
  check(driver.device(&device, number), "the GPU cannot be used");
  char text[256] = {};
  check(driver.deviceName(text, sizeof text - 1, device), "the GPU does not say its name");
  deviceName = text;
  auto attribute = [&](int which) {
    int value = 0;
    check(driver.deviceAttribute(&value, which, device), "the GPU does not say what it can");
    return static_cast<uint32_t>(value);
  };
  majorNumber = attribute(majorAttribute);
  minorNumber = attribute(minorAttribute);
  check(driver.retainContext(&context, device), "the GPU cannot be used");
  makeCurrent();
}

Gpu::~Gpu() {
  if (context)
    driver.releaseContext(device);
}

std::string Gpu::identity() const {
  DeviceIdentity identity = {};
  check(driver.deviceIdentity(&identity, device), "the GPU does not say its identity");
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
  check(driver.memoryInfo(&free, &total), "the GPU does not say its memory");
  return {static_cast<int64_t>(free), static_cast<int64_t>(total)};
}

} // namespace mtc::runtime::cuda
