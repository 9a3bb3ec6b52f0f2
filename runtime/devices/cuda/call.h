// One call of a library, prepared once and enqueued in every step.
#ifndef MTC_RUNTIME_DEVICES_CUDA_CALL_H
#define MTC_RUNTIME_DEVICES_CUDA_CALL_H

#include "runtime/abi/cuda.h"
#include "runtime/devices/cuda/blas.h"
#include "runtime/devices/cuda/dnn_handle.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime::cuda {

class PreparedCall {
public:
  virtual ~PreparedCall() = default;
  /// A fault of the system if the library cannot run it.
  virtual void enqueue(Stream stream) const = 0;
  /// For profiles.
  virtual std::string implementation() const = 0;
};

/// The device's libraries, each opened by the first call that may need it.
class Libraries {
public:
  Blas &openBlas();
  /// Null if it is not installed, or cannot be started on this device.
  Dnn *openDnn();

private:
  std::unique_ptr<Blas> blas;
  std::optional<std::unique_ptr<Dnn>> dnn;
};

/// What a call is prepared with.
struct CallContext {
  Libraries &libraries;
  MtcCudaPrecision precision;   ///< that operands of f32 may be rounded to
  std::vector<Address> buffers; ///< operands, then results
  Address scratch;
};

/// How libraries compute a kind of call on the device.
struct CallKind {
  const char *name; ///< of its ABI
  /// Null where the program's own code is to compute it. Throws a fault of the system where there
  /// is no such code, and no library computes the call.
  std::unique_ptr<PreparedCall> (*prepare)(const CallContext &context, const MtcCall &call);
};

/// Null for a kind that no library computes.
const CallKind *findCallKind(const char *name);

inline MtcCudaPrecision precisionOf(const MtcCudaProgram &program) {
  return static_cast<MtcCudaPrecision>(program.precision);
}

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_CALL_H
