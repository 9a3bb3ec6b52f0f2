//===- CudaDialect.cpp - The cuda target attribute --------------------------------------------===//
//
// Results are independent of the machine that compiles, with or without a GPU, and are equal for
// device code and its emulation.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/cuda/CudaDialect.h"

#include "codegen/cpu/CpuDialect.h"
#include "codegen/cpu/Rates.h"
#include "codegen/cuda/Architecture.h"
#include "codegen/cuda/DeviceCall.h"
#include "codegen/cuda/GpuFigures.h"
#include "codegen/cuda/Hardware.h"
#include "runtime/abi/cuda_library_call.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <mutex>

using namespace mlir;
using namespace mtc;
using namespace mtc::cuda;
using namespace mtc::gpu;

#include "codegen/cuda/CudaDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/cuda/CudaAttributes.cpp.inc"

void MtcCudaDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "codegen/cuda/CudaAttributes.cpp.inc"
      >();
}

llvm::Error cuda::checkWithout(StringRef libraries) {
  static constexpr llvm::StringLiteral dispensable = "cudnn";
  for (StringRef library : llvm::split(libraries, ','))
    if (!libraries.empty() && library != dispensable)
      return llvm::createStringError("without " + library +
                                     ": the target 'cuda' requires this library; expected " +
                                     dispensable);
  return llvm::Error::success();
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef architectures, Precision, bool, StringRef without,
                                 unsigned, StringRef, StringRef, StringRef rates) {
  if (auto parsed = parseArchitectures(architectures); !parsed)
    return emitError() << llvm::toString(parsed.takeError());
  if (llvm::Error error = checkWithout(without))
    return emitError() << llvm::toString(std::move(error));
  if (llvm::Error error = checkGpu(rates))
    return emitError() << llvm::toString(std::move(error));
  return success();
}

/// Returns whether the program may use the library that computes such calls.
static bool mayUseLibrary(TargetAttr target, CallAttrInterface call) {
  const char *library = mtc_cuda_call_library(call.getKind().str().c_str());
  return library && !llvm::is_contained(llvm::split(target.getWithout(), ','), library);
}

int64_t TargetAttr::getScratchBytes(CallAttrInterface call) const {
  int64_t library =
      mayUseLibrary(*this, call)
          ? mtc_cuda_call_scratch_bytes(call.getKind().str().c_str(), call.getBytes().data())
          : -1;
  // Device code needs no scratch buffer, but the runtime may prefer a library.
  return planDeviceCall(call, getContractionPrecision()) ? std::max<int64_t>(library, 0) : library;
}

unsigned TargetAttr::getSupportLevel(CallAttrInterface call) const {
  if (CallAttrInterface stored = call.withAlgorithm(std::nullopt); stored && stored != call)
    return 0; // The algorithms are those of the target `cpu`.
  if (planDeviceCall(call, getContractionPrecision()))
    return 2;
  return mayUseLibrary(*this, call)
             ? mtc_cuda_call_support_level(call.getKind().str().c_str(), call.getBytes().data(),
                                           static_cast<MtcCudaPrecision>(getContractionPrecision()))
             : 0;
}

/// Calls that neither a library nor device code supports are computed by kernels.
bool TargetAttr::isFasterAsKernel(CallAttrInterface call) const {
  return getSupportLevel(call) == 0;
}

/// Returns the first architecture, which the cost model uses. The program may also run on others.
static unsigned numberOf(TargetAttr target) {
  // Each estimate of an operation needs the number, so that the usual names are not parsed again.
  unsigned number;
  StringRef digits = target.getArchitectures().split(',').first.drop_until(llvm::isDigit);
  if (!digits.consumeInteger(10, number))
    return number;
  Architecture first = llvm::cantFail(parseArchitectures(target.getArchitectures())).front();
  return first.major * 10 + first.minor;
}

/// Returns the figures of the GPU in `rates`, or otherwise of the first architecture.
static const GpuFigures &figuresOfTarget(TargetAttr target) {
  const GpuFigures *named = target.getRates().empty() ? nullptr : findFigures(target.getRates());
  return named ? *named : figuresOf(numberOf(target));
}

double TargetAttr::getCallSeconds(CallAttrInterface call) const {
  return figuresOfTarget(*this).getSeconds(call, getContractionPrecision());
}

double TargetAttr::getKernelSeconds(Operation *kernel) const {
  return figuresOfTarget(*this).getSeconds(costOfKernel(kernel));
}

/// Returns the class of the host processor. Its rates are independent of the machine that compiles,
/// which may not be the one with the GPU.
static StringRef hostClassOf(TargetAttr target) {
  static std::mutex mutex;
  static llvm::StringMap<StringRef> known;
  std::scoped_lock lock(mutex);
  auto [entry, isNew] =
      known.try_emplace((target.getProcessor() + ":" + target.getFeatures()).str(), "sse");
  if (isNew) {
    auto processor = cpu::describeProcessor(target.getProcessor(), target.getFeatures());
    if (processor)
      entry->second = cpu::classOf(*processor);
    llvm::consumeError(processor.takeError());
  }
  return entry->second;
}

TargetAttrInterface TargetAttr::getHostTarget() const {
  return cpu::TargetAttr::get(getContext(), Precision::F32, getThreads(), getProcessor(),
                              getFeatures(), hostClassOf(*this), /*without=*/"onednn",
                              /*is_static=*/false, /*tune=*/"off");
}

double TargetAttr::getHostKernelSeconds(Operation *kernel) const {
  auto host = cast<cpu::TargetAttr>(getHostTarget());
  return cpu::ratesOf(host.getRates(), host.getProcessor(), host.getFeatures(),
                      static_cast<int>(host.getThreads()), host.getLibrary())
      .getUncachedSeconds(costOfKernel(kernel));
}

MemorySpace TargetAttr::getOffloadSpace() const { return MemorySpace::PinnedHost; }

double TargetAttr::getTransferSeconds(MemorySpace source, MemorySpace destination,
                                      int64_t bytes) const {
  if (source == destination)
    return getCopySeconds(bytes);
  return figuresOfTarget(*this).getTransferSeconds(bytes);
}

double TargetAttr::getCopySeconds(int64_t bytes) const {
  return figuresOfTarget(*this).getCopySeconds(bytes);
}

std::string TargetAttr::describeRates() const {
  const GpuFigures &gpu = figuresOfTarget(*this);
  return llvm::formatv("by the data sheet of NVIDIA {0} (sm_{1}), not measured", gpu.name,
                       gpu.number);
}

KernelPlanAttrInterface TargetAttr::planKernel(Operation *kernel) const {
  return LaunchesAttr::get(getContext(), planLaunches(normalizeKernel(kernel), hardware.warp));
}

int64_t LaunchesAttr::getScratchBytes() const { return getPlan().scratchBytes; }

std::string LaunchesAttr::refuse(Operation *kernel) const {
  return refusePlan(getPlan(), normalizeKernel(kernel), hardware.warp);
}

void LaunchesAttr::print(AsmPrinter &printer) const { printPlan(printer, getPlan()); }

Attribute LaunchesAttr::parse(AsmParser &parser, Type) {
  FailureOr<LaunchPlan> plan = parsePlan<LaunchPlan>(parser);
  return succeeded(plan) ? LaunchesAttr::get(parser.getContext(), *plan) : LaunchesAttr();
}
