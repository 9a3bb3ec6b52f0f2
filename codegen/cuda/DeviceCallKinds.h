//===- DeviceCallKinds.h - The kinds of calls that have device code ---------------------------===//
//
// DeviceCall.cpp builds the modules; a file for each kind plans its launches.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_DEVICECALLKINDS_H
#define MTC_CODEGEN_CUDA_DEVICECALLKINDS_H

#include "codegen/cuda/DeviceCall.h"

namespace mtc::cuda {

/// Plan calls of one kind; see `planDeviceCall`. They return nullopt for other kinds.
std::optional<DeviceCall> planAttention(CallAttrInterface call, ContractionPrecision precision);
std::optional<DeviceCall> planRecurrence(CallAttrInterface call);

/// Returns the arguments of attention's entry functions after the description, except the shared
/// memory: the operands, where null stands for an absent one, and the results.
llvm::SmallVector<llvm::Value *> attentionArguments(CallAttrInterface call, llvm::Function &kernel);

/// Returns the symbol of a call's launches: a name of the kind, and a hash of the description.
std::string symbolOf(CallAttrInterface call, const llvm::Twine &name);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_DEVICECALLKINDS_H
