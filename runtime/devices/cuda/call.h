// A library call, planned once and enqueued in every step.
#ifndef MTC_RUNTIME_DEVICES_CUDA_CALL_H
#define MTC_RUNTIME_DEVICES_CUDA_CALL_H

#include "runtime/abi/cuda.h"
#include "runtime/devices/cuda/blas.h"
#include "runtime/devices/cuda/dnn_handle.h"
#include "runtime/devices/cuda/images.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime::cuda {

class PreparedCall {
public:
  virtual ~PreparedCall() = default;
  /// Throws a system error if the library fails to run the call.
  virtual void enqueue(Stream stream) const = 0;
  /// Returns the name of the implementation, for profiles.
  virtual std::string implementation() const = 0;
};

/// The device's libraries, each opened on first use.
class Libraries {
public:
  Blas &openBlas();
  /// Returns null if cuDNN is not installed or cannot be initialized on this device.
  Dnn *openDnn();

private:
  std::unique_ptr<Blas> blas;
  std::optional<std::unique_ptr<Dnn>> dnn;
};

/// The state that is needed to prepare a call.
struct CallContext {
  Libraries &libraries;
  MtcCudaPrecision precision;   ///< precision for rounding f32 operands
  std::vector<Address> buffers; ///< operands, then results
  Address scratch;
  KernelImages *images = nullptr; ///< contain the program's code for the call, if there is any
  const char *nodes = "";         ///< model nodes of the call
};

/// The library implementation of a kind of call.
struct CallKind {
  const char *name; ///< kind in the ABI
  /// Returns null if the program's own code alone is to compute the call. Throws a system error if
  /// there is no such code and no library computes the call.
  std::unique_ptr<PreparedCall> (*prepare)(const CallContext &context, const MtcCall &call);
};

/// Returns null for a kind that no library computes.
const CallKind *findCallKind(const char *name);

inline MtcCudaPrecision precisionOf(const MtcCudaProgram &program) {
  return static_cast<MtcCudaPrecision>(program.precision);
}

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_CALL_H
