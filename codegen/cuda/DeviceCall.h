//===- DeviceCall.h - Library calls computed by built-in device code --------------------------===//
//
// Attention, and the cells of recurrent layers. The device code is C++ (codegen/cuda/device),
// compiled to LLVM IR when the compiler is built. For each call of a program, this component
// generates kernels that inline the code with the call's description as a constant. The kernels are
// then compiled like all others.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_DEVICECALL_H
#define MTC_CODEGEN_CUDA_DEVICECALL_H

#include "codegen/gpu/LaunchPlan.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace mtc::cuda {

struct DeviceCallKind;

/// The launches of a call, each with the entry function of the device code. The parameters of
/// attention are its operands, its results and its scratch buffer, which is unused here; cuDNN
/// needs it. Those of recurrent layers are in runtime/abi/cuda_recurrence.h.
struct DeviceCall {
  const DeviceCallKind *kind = nullptr;
  struct Part {
    gpu::Launch launch;
    std::string entry;
  };
  llvm::SmallVector<Part> parts;
  /// The accessed bytes of each parameter, from its start to its last accessed byte.
  llvm::SmallVector<int64_t> extents;

  llvm::SmallVector<gpu::Launch> launches() const;
};

/// Returns nullopt if the call is not supported: it is of another kind, no code exists for its
/// element type or head width, it is empty, or it exceeds the maximum grid size. With a `precision`
/// of tf32, f32 contractions use tensor cores. The precision does not affect whether a call is
/// supported.
std::optional<DeviceCall>
planDeviceCall(CallAttrInterface call, ContractionPrecision precision = ContractionPrecision::F32);

/// Builds the unoptimized device module with the kernels of a planned call.
llvm::Expected<std::unique_ptr<llvm::Module>>
buildDeviceCall(CallAttrInterface call, const DeviceCall &plan, llvm::LLVMContext &context);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_DEVICECALL_H
