// Library calls of the target `cuda`.
#ifndef MTC_RUNTIME_DEVICES_CUDA_CALL_H
#define MTC_RUNTIME_DEVICES_CUDA_CALL_H

#include "runtime/abi/cuda.h"
#include "runtime/devices/cuda/blas.h"
#include "runtime/devices/cuda/dnn_handle.h"
#include "runtime/devices/gpu/platform.h"

#include <memory>
#include <optional>

namespace mtc::runtime::cuda {

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
struct CallContext : gpu::CallOperands {
  CallContext(Libraries &libraries, MtcCudaPrecision precision, gpu::CallOperands operands)
      : CallOperands(std::move(operands)), libraries(libraries), precision(precision) {}

  Libraries &libraries;
  MtcCudaPrecision precision; ///< precision for rounding f32 operands
};

/// The library implementation of a kind of call.
struct CallKind {
  const char *name; ///< kind in the ABI
  /// See gpu::Platform::prepare.
  std::unique_ptr<gpu::PreparedCall> (*prepare)(const CallContext &context, const MtcCall &call);
};

/// Returns null for a kind that no library computes.
const CallKind *findCallKind(const char *name);

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_CALL_H
