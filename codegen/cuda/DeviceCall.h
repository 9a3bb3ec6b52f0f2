//===- DeviceCall.h - Library calls that device code of mtc's own computes --------------------===//
//
// Attention. Its code is C++ (codegen/cuda/device), compiled to LLVM IR when the compiler is built.
// For each call that a program makes, a kernel is written around it in which the call's description
// is a constant, and then goes the way of all kernels.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_DEVICECALL_H
#define MTC_CODEGEN_CUDA_DEVICECALL_H

#include "codegen/cuda/LaunchPlan.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace mtc::cuda {

/// A call's launches, each with the function of the device's code that it runs. Parameters are the
/// call's operands, its results, and its scratch, which nothing needs: it is cuDNN's.
struct DeviceCall {
  struct Part {
    Launch launch;
    std::string entry;
  };
  llvm::SmallVector<Part> parts;
  /// Bytes from the start of each parameter to the last that is accessed.
  llvm::SmallVector<int64_t> extents;

  llvm::SmallVector<Launch> launches() const;
};

/// Nothing where there is no code for the call: an element type or a width of heads that the tiles
/// are not for, nothing to compute, more blocks than a grid has. With a `precision` of tf32
/// products of f32 are tensor cores'; it changes no answer of whether there is code.
std::optional<DeviceCall>
planDeviceCall(CallAttrInterface call, ContractionPrecision precision = ContractionPrecision::F32);

/// The device module with the kernels of a planned call, not optimized.
llvm::Expected<std::unique_ptr<llvm::Module>>
buildDeviceCall(CallAttrInterface call, const DeviceCall &plan, llvm::LLVMContext &context);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_DEVICECALL_H
