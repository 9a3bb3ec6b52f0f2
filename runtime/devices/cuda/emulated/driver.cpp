// A driver whose device is the CPU. See execution/emulator.h for how device code runs, and
// streams.h for when it runs.
#include "runtime/devices/cuda/driver.h"

#include "runtime/devices/cuda/emulated/execution/emulator.h"
#include "runtime/devices/cuda/emulated/streams.h"
#include "runtime/support/process.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <unistd.h>
#include <utility>

namespace mtc::runtime::cuda {

using namespace gpu;
namespace {

constexpr auto invalidValue = static_cast<Result>(1);

char *pointer(Address address) { return reinterpret_cast<char *>(address); }

/// Returns the size of device memory in bytes: MTC_EMULATED_MEMORY, or 8 GiB.
size_t totalMemory() {
  const char *given = std::getenv("MTC_EMULATED_MEMORY");
  return given ? std::strtoull(given, nullptr, 10) : size_t{8} << 30;
}

struct Allocations {
  std::map<Address, size_t> bytes;
  size_t used = 0;
};
Allocations &allocations() {
  static Allocations all;
  return all;
}

Result statusOf(bool isFine) { return isFine ? success : launchFailed; }
Result statusOf(Progress progress) {
  return progress == Progress::Waiting ? notReady : statusOf(progress == Progress::Done);
}

//===----------------------------------------------------------------------------------------===//
// Device and memory
//===----------------------------------------------------------------------------------------===//

Result init(unsigned) { return success; }
Result driverVersion(int *version) {
  *version = 13000;
  return success;
}
Result deviceCount(int *count) {
  *count = 1;
  return success;
}
Result device(int *device, int) {
  *device = 0;
  return success;
}
Result deviceName(char *name, int bytes, int) {
  std::strncpy(name, "the emulated GPU", static_cast<size_t>(bytes));
  return success;
}
Result deviceAttribute(int *value, int attribute, int) {
  *value = attribute == majorAttribute ? 9 : 0;
  return success;
}
/// Each process has a device of its own.
Result deviceIdentity(DeviceIdentity *identity, int) {
  const pid_t process = getpid();
  *identity = {};
  std::memcpy(identity->bytes, &process, sizeof process);
  return success;
}
Result retainContext(Context *context, int) {
  *context = nullptr;
  return success;
}
Result releaseContext(int) { return success; }
Result setContext(Context) { return success; }

Result errorName(Result error, const char **name) {
  *name = error == outOfMemory      ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == launchFailed   ? "CUDA_ERROR_LAUNCH_FAILED"
          : error == noBinaryForGpu ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : error == notReady       ? "CUDA_ERROR_NOT_READY"
                                    : "CUDA_ERROR_INVALID_VALUE";
  return success;
}
Result errorText(Result error, const char **text) {
  *text = error == outOfMemory      ? "out of memory"
          : error == launchFailed   ? firstFault().c_str()
          : error == noBinaryForGpu ? "the emulated device runs no code of a GPU"
          : error == notReady       ? "work is pending"
                                    : "invalid argument";
  return success;
}

Result memoryInfo(size_t *free, size_t *total) {
  *total = totalMemory();
  *free = *total - std::min(*total, allocations().used);
  return success;
}
Result allocate(Address *address, size_t bytes) {
  size_t free, total;
  memoryInfo(&free, &total);
  char *memory = bytes <= free ? emulation::allocate(bytes) : nullptr;
  if (!memory)
    return outOfMemory;
  *address = reinterpret_cast<Address>(memory);
  allocations().bytes[*address] = bytes;
  allocations().used += bytes;
  return success;
}
Result release(Address address) {
  bool isFine = runAll(); // The real driver synchronizes here, too.
  auto known = allocations().bytes.find(address);
  if (known == allocations().bytes.end())
    return invalidValue;
  allocations().used -= known->second;
  allocations().bytes.erase(known);
  emulation::release(pointer(address));
  return statusOf(isFine);
}
Result allocatePinned(void **memory, size_t bytes, unsigned) {
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  return *memory ? success : outOfMemory;
}
Result releasePinned(void *memory) {
  bool isFine = runAll();
  std::free(memory);
  return statusOf(isFine);
}

//===----------------------------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------------------------===//

Result copyToDevice(Address to, const void *from, size_t bytes, Stream stream) {
  enqueue(stream, [=] {
    std::string fault = emulation::findFault(pointer(to), bytes, false);
    if (fault.empty()) {
      std::memcpy(pointer(to), from, bytes);
      emulation::markDefined(pointer(to), bytes);
    }
    return fault;
  });
  return success;
}
Result copyToHost(void *to, Address from, size_t bytes, Stream stream) {
  enqueue(stream, [=] {
    std::string fault = emulation::findFault(pointer(from), bytes, true);
    if (fault.empty())
      std::memcpy(to, pointer(from), bytes);
    return fault;
  });
  return success;
}
Result copyOnDevice(Address to, Address from, size_t bytes, Stream stream) {
  enqueue(stream, [=] {
    std::string fault = emulation::findFault(pointer(from), bytes, true);
    if (fault.empty())
      fault = emulation::findFault(pointer(to), bytes, false);
    if (fault.empty()) {
      std::memmove(pointer(to), pointer(from), bytes);
      emulation::markDefined(pointer(to), bytes);
    }
    return fault;
  });
  return success;
}
Result fillBytes(Address to, unsigned char value, size_t count, Stream stream) {
  enqueue(stream, [=] {
    std::string fault = emulation::findFault(pointer(to), count, false);
    if (fault.empty()) {
      std::memset(pointer(to), value, count);
      emulation::markDefined(pointer(to), count);
    }
    return fault;
  });
  return success;
}

//===----------------------------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------------------------===//

Result makeStream(Stream *stream, unsigned) {
  *stream = createStream();
  return success;
}
Result endStream(Stream stream) {
  destroyStream(stream);
  return success;
}
Result waitForStream(Stream stream) {
  return stream->capture ? invalidValue : statusOf(waitUntil(stream, stream->asked));
}
Result queryStream(Stream stream) {
  return stream->capture ? invalidValue : statusOf(runUntil(stream, stream->asked));
}
Result letStreamWait(Stream stream, Event event, unsigned) {
  enqueueWait(stream, *event);
  return success;
}
Result createEvent(Event *event, unsigned) {
  *event = new EventHandle;
  return success;
}
Result destroyEvent(Event event) {
  runAll(); // The event may not have been recorded yet.
  delete event;
  return success;
}
Result recordEvent(Event event, Stream stream) {
  enqueue(stream, [=] {
    event->time = std::chrono::steady_clock::now();
    return std::string();
  });
  event->stream = stream;
  event->capture = stream->capture;
  event->position =
      stream->capture ? stream->capture->branches[stream->branch].nodes.size() : stream->asked;
  return success;
}
Result waitForEvent(Event event) {
  return statusOf(event->stream ? waitUntil(event->stream, event->position) : firstFault().empty());
}
Result queryEvent(Event event) {
  return event->stream ? statusOf(runUntil(event->stream, event->position))
                       : statusOf(firstFault().empty());
}
Result elapsed(float *milliseconds, Event begin, Event end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return success;
}

//===----------------------------------------------------------------------------------------===//
// Kernels and graphs
//===----------------------------------------------------------------------------------------===//

/// Emulated programs have no images.
Result loadModule(Module *, const void *) { return noBinaryForGpu; }
Result unloadModule(Module) { return success; }
Result findFunction(Function *, Module, const char *) { return noBinaryForGpu; }

Result launch(Function function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
              unsigned, Stream stream, void **, void **extra) {
  const auto *buffer = static_cast<const Address *>(extra[1]);
  const size_t count = *static_cast<const size_t *>(extra[3]) / sizeof(Address);
  std::vector<char *> parameters;
  parameters.reserve(count);
  for (size_t i = 0; i < count; ++i)
    parameters.push_back(pointer(buffer[i]));
  enqueue(stream, [=, emulated = *reinterpret_cast<const EmulatedFunction *>(function)] {
    return emulation::launch(*emulated.launch, parameters.data(), emulated.nodes, availableCores());
  });
  return success;
}

Result launchHostFunction(Stream stream, void (*function)(void *context), void *context) {
  enqueue(stream, [=] {
    function(context);
    return std::string();
  });
  return success;
}

Result beginCapture(Stream stream, int) {
  stream->capture = new GraphHandle{std::vector<GraphBranch>(1)};
  stream->branch = 0;
  return success;
}
Result finishCapture(Stream stream, Graph *graph) {
  *graph = endCapture(stream);
  return *graph ? success : invalidValue;
}
Result destroyGraph(Graph graph) {
  delete graph;
  return success;
}
Result instantiate(ExecutableGraph *executable, Graph graph, unsigned long long) {
  *executable = new ExecutableGraphHandle{graph->branches};
  return success;
}
Result destroyExecutable(ExecutableGraph executable) {
  runAll();
  delete executable;
  return success;
}
Result launchGraph(ExecutableGraph executable, Stream stream) {
  enqueueGraph(stream, *executable);
  return success;
}

} // namespace

const Driver &openDriver() {
  static const Driver driver = {
      .vendor = "NVIDIA",
      .visibleDevices = "CUDA_VISIBLE_DEVICES",
      .init = init,
      .driverVersion = driverVersion,
      .deviceCount = deviceCount,
      .device = device,
      .deviceName = deviceName,
      .deviceAttribute = deviceAttribute,
      .deviceIdentity = deviceIdentity,
      .retainContext = retainContext,
      .releaseContext = releaseContext,
      .setContext = setContext,
      .errorName = errorName,
      .errorText = errorText,
      .memoryInfo = memoryInfo,
      .allocate = allocate,
      .release = release,
      .allocatePinned = allocatePinned,
      .releasePinned = releasePinned,
      .copyToDevice = copyToDevice,
      .copyToHost = copyToHost,
      .copyOnDevice = copyOnDevice,
      .fillBytes = fillBytes,
      .createStream = makeStream,
      .destroyStream = endStream,
      .waitForStream = waitForStream,
      .queryStream = queryStream,
      .letStreamWait = letStreamWait,
      .createEvent = createEvent,
      .destroyEvent = destroyEvent,
      .recordEvent = recordEvent,
      .waitForEvent = waitForEvent,
      .queryEvent = queryEvent,
      .elapsed = elapsed,
      .loadModule = loadModule,
      .unloadModule = unloadModule,
      .findFunction = findFunction,
      .launch = launch,
      .launchHostFunction = launchHostFunction,
      .beginCapture = beginCapture,
      .endCapture = finishCapture,
      .destroyGraph = destroyGraph,
      .instantiate = instantiate,
      .destroyExecutable = destroyExecutable,
      .launchGraph = launchGraph,
  };
  return driver;
}

} // namespace mtc::runtime::cuda
