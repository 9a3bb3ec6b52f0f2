//===- DeviceCallKinds.h - The kinds of calls that have device code ---------------------------===//
//
// DeviceCall.cpp builds the modules; a file for each kind plans its launches.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_DEVICECALLKINDS_H
#define MTC_CODEGEN_CUDA_DEVICECALLKINDS_H

#include "codegen/cuda/DeviceCall.h"

namespace mtc::cuda {

/// A kind of calls.
struct DeviceCallKind {
  llvm::ArrayRef<unsigned char> bitcode;
  /// Plans a call; see `planDeviceCall`. Returns nullopt for another kind.
  std::optional<DeviceCall> (*plan)(CallAttrInterface call, ContractionPrecision precision);
  /// Returns the arguments that `kernel`, which `launch` launches, passes to an entry function
  /// after the description.
  llvm::SmallVector<llvm::Value *> (*arguments)(CallAttrInterface call, const gpu::Launch &launch,
                                                llvm::Function &kernel);
};

std::optional<DeviceCall> planAttention(CallAttrInterface call, ContractionPrecision precision);
/// The operands (null if absent), the results, and shared memory.
llvm::SmallVector<llvm::Value *>
attentionArguments(CallAttrInterface call, const gpu::Launch &launch, llvm::Function &kernel);

std::optional<DeviceCall> planRecurrence(CallAttrInterface call, ContractionPrecision precision);
/// The parameters of the kernel.
llvm::SmallVector<llvm::Value *>
recurrenceArguments(CallAttrInterface call, const gpu::Launch &launch, llvm::Function &kernel);

/// Returns the symbol of a call's launches: a name of the kind, and a hash of the description.
std::string symbolOf(CallAttrInterface call, const llvm::Twine &name);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_DEVICECALLKINDS_H
