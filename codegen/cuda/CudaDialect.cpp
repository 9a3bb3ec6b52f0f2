//===- CudaDialect.cpp - What passes ask of the target `cuda` ---------------------------------===//
//
// The answers are the same on every machine, with a GPU or without, and for device code and its
// emulation.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/cuda/CudaDialect.h"

#include "codegen/cuda/Architecture.h"
#include "codegen/cuda/DeviceCall.h"
#include "codegen/cuda/LaunchPlan.h"
#include "codegen/kernels/KernelAnalysis.h"
#include "runtime/abi/cuda_library_call.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cuda;

#include "codegen/cuda/CudaDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/cuda/CudaAttributes.cpp.inc"

void MtcCudaDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "codegen/cuda/CudaAttributes.cpp.inc"
      >();
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef architectures, ContractionPrecision, bool, unsigned,
                                 StringRef, StringRef) {
  if (auto parsed = parseArchitectures(architectures); !parsed)
    return emitError() << llvm::toString(parsed.takeError());
  return success();
}

int64_t TargetAttr::getScratchBytes(CallAttrInterface call) const {
  int64_t library = mtc_cuda_call_scratch_bytes(call.getKind().data(), call.getBytes().data());
  // Code of ours needs none, but a library may be asked first.
  return planDeviceCall(call, getPrecision()) ? std::max<int64_t>(library, 0) : library;
}

/// What NVIDIA's epilogues make of a NaN and how far their GELU is off is not said: they are for
/// precisions that are less than f32.
static bool isExactActivation(CallAttrInterface call, ContractionPrecision precision) {
  auto contraction = dyn_cast<ContractionCallAttr>(call);
  return contraction && contraction.getRecord()->activation != MTC_NO_ACTIVATION &&
         precision == ContractionPrecision::F32 && contraction.getRecord()->type == MTC_F32;
}

unsigned TargetAttr::getSupportLevel(CallAttrInterface call) const {
  if (isExactActivation(call, getPrecision()))
    return 0;
  if (planDeviceCall(call, getPrecision()))
    return 2;
  return mtc_cuda_call_support_level(call.getKind().data(), call.getBytes().data());
}

/// What neither a library nor device code of ours computes.
bool TargetAttr::isFasterAsKernel(CallAttrInterface call) const {
  return getSupportLevel(call) == 0;
}

int64_t TargetAttr::getKernelScratchBytes(KernelOp kernel) const {
  return planLaunches(normalizeKernel(kernel), "").scratchBytes;
}
