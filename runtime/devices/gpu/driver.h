// The functions of a GPU's driver that programs use. They have the signatures and the meaning of
// the CUDA driver API, which HIP shares. They are declared here, so that compilation needs no
// headers of a vendor, and are resolved at run time, so that a program starts without a driver and
// reports what is missing.
#ifndef MTC_RUNTIME_DEVICES_GPU_DRIVER_H
#define MTC_RUNTIME_DEVICES_GPU_DRIVER_H

#include "runtime/abi/gpu.h"

#include <cstddef>
#include <cstdint>

namespace mtc::runtime::gpu {

using Address = uint64_t;
using Context = struct ContextHandle *;
using Stream = struct StreamHandle *;
using Event = struct EventHandle *;
using Module = struct ModuleHandle *;
using Function = struct FunctionHandle *;
using Graph = struct GraphHandle *;
using ExecutableGraph = struct ExecutableGraphHandle *;

enum Result : int {
  success = 0,
  outOfMemory = 2,
  noDevice = 100,
  noBinaryForGpu = 209,
  notReady = 600,
  launchFailed = 719
};

/// The identity of a GPU, or of a part of one.
struct DeviceIdentity {
  unsigned char bytes[16];
};

/// Values of the driver's enumerations.
constexpr unsigned nonBlockingStream = 1;                          // CU_STREAM_NON_BLOCKING
constexpr unsigned timedEvent = 0, untimedEvent = 2;               // CU_EVENT_DISABLE_TIMING
constexpr int relaxedCapture = 2;                                  // CU_STREAM_CAPTURE_MODE_...
constexpr uintptr_t endOfParameters = 0;                           // CU_LAUNCH_PARAM_...
constexpr uintptr_t parameterBuffer = 1, parameterBufferBytes = 2; // CU_LAUNCH_PARAM_...

struct Driver {
  const char *vendor;         ///< for messages: NVIDIA
  const char *visibleDevices; ///< environment variable that hides devices

  Result (*init)(unsigned flags);
  Result (*driverVersion)(int *version);
  Result (*deviceCount)(int *count);
  Result (*device)(int *device, int ordinal);
  Result (*deviceName)(char *name, int bytes, int device);
  Result (*deviceAttribute)(int *value, int attribute, int device);
  Result (*deviceIdentity)(DeviceIdentity *identity, int device);
  Result (*retainContext)(Context *context, int device);
  Result (*releaseContext)(int device);
  Result (*setContext)(Context context);
  Result (*errorName)(Result error, const char **name);
  Result (*errorText)(Result error, const char **text);

  Result (*memoryInfo)(size_t *free, size_t *total);
  Result (*allocate)(Address *address, size_t bytes);
  Result (*release)(Address address);
  Result (*allocatePinned)(void **memory, size_t bytes, unsigned flags);
  Result (*releasePinned)(void *memory);
  Result (*copyToDevice)(Address to, const void *from, size_t bytes, Stream stream);
  Result (*copyToHost)(void *to, Address from, size_t bytes, Stream stream);
  Result (*copyOnDevice)(Address to, Address from, size_t bytes, Stream stream);
  Result (*fillBytes)(Address to, unsigned char value, size_t count, Stream stream);

  Result (*createStream)(Stream *stream, unsigned flags);
  Result (*destroyStream)(Stream stream);
  Result (*waitForStream)(Stream stream);
  Result (*queryStream)(Stream stream); ///< `notReady` while work is pending
  Result (*letStreamWait)(Stream stream, Event event, unsigned flags);
  Result (*createEvent)(Event *event, unsigned flags);
  Result (*destroyEvent)(Event event);
  Result (*recordEvent)(Event event, Stream stream);
  Result (*waitForEvent)(Event event);
  Result (*queryEvent)(Event event); ///< `notReady` while work before the event is pending
  Result (*elapsed)(float *milliseconds, Event begin, Event end);

  Result (*loadModule)(Module *module, const void *image);
  Result (*unloadModule)(Module module);
  Result (*findFunction)(Function *function, Module module, const char *name);
  Result (*launch)(Function function, unsigned gridX, unsigned gridY, unsigned gridZ,
                   unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                   Stream stream, void **parameters, void **extra);

  /// Calls `function(context)` on a thread of the driver; it must not call the driver.
  Result (*launchHostFunction)(Stream stream, void (*function)(void *context), void *context);

  Result (*beginCapture)(Stream stream, int mode);
  Result (*endCapture)(Stream stream, Graph *graph);
  Result (*destroyGraph)(Graph graph);
  Result (*instantiate)(ExecutableGraph *executable, Graph graph, unsigned long long flags);
  Result (*destroyExecutable)(ExecutableGraph executable);
  Result (*launchGraph)(ExecutableGraph executable, Stream stream);
};

/// The target of `Function` in an emulated program.
struct EmulatedFunction {
  const MtcGpuLaunch *launch;
  const char *nodes; ///< model nodes of the launch
};

/// Throws a system error with the driver's message if `result` is an error. `what` describes the
/// action that failed, for the message.
void check(const Driver &driver, Result result, const char *what);

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_DRIVER_H
