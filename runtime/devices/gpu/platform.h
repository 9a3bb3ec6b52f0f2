// The parts of the runtime that differ between kinds of GPUs.
#ifndef MTC_RUNTIME_DEVICES_GPU_PLATFORM_H
#define MTC_RUNTIME_DEVICES_GPU_PLATFORM_H

#include "runtime/abi/program.h"
#include "runtime/devices/gpu/images.h"

#include <memory>
#include <string>
#include <vector>

namespace mtc::runtime::gpu {

/// A library call, planned once and enqueued in every step.
class PreparedCall {
public:
  virtual ~PreparedCall() = default;
  /// Throws a system error if the library fails to run the call.
  virtual void enqueue(Stream stream) const = 0;
  /// Returns the name of the implementation, for profiles.
  virtual std::string implementation() const = 0;
};

/// The memory and the code of a call.
struct CallOperands {
  std::vector<Address> buffers; ///< operands, then results
  Address scratch;
  KernelImages *images = nullptr; ///< contain the program's code for the call, if there is any
  const char *nodes = "";         ///< model nodes of the call
};

/// The driver, the code and the libraries of a program. Each target that is a GPU implements it.
class Platform {
public:
  virtual ~Platform() = default;

  /// Returns the driver of this machine; in an emulated program, the emulated driver. Throws a
  /// system error, which states what to install, if the machine has no driver or one that is too
  /// old for the program.
  virtual const Driver &openDriver() const = 0;
  /// Returns the program's best code for a device. Throws a system error if there is none.
  virtual KernelCode chooseCode(const Gpu &gpu) const = 0;

  /// Returns null if the program's own code alone is to compute the call. Throws a system error if
  /// there is no such code and no library computes the call.
  virtual std::unique_ptr<PreparedCall> prepare(const MtcCall &call,
                                                const CallOperands &operands) = 0;
  /// Returns the scratch bytes of a call; a negative number if no library computes it.
  virtual int64_t scratchBytes(const MtcCall &call) const = 0;
};

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_PLATFORM_H
