//===- CpuDialect.cpp - The cpu target attribute ----------------------------------------------===//

#include "codegen/cpu/CpuDialect.h"

#include "codegen/cpu/CallAlgorithms.h"
#include "codegen/cpu/DiskRates.h"
#include "codegen/cpu/Rates.h"
#include "codegen/host/Processor.h"
#include "ir/TypeCode.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <mutex>

using namespace mlir;
using namespace mtc;
using namespace mtc::cpu;

#include "codegen/cpu/CpuDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/cpu/CpuAttributes.cpp.inc"

void MtcCpuDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "codegen/cpu/CpuAttributes.cpp.inc"
      >();
}

namespace {

/// A thread-safe cache of expensive queries that passes repeat.
template <typename Answer> class Memo {
public:
  Answer get(const std::string &question, llvm::function_ref<Answer()> ask) {
    std::unique_lock lock(mutex);
    if (auto known = answers.find(question); known != answers.end())
      return known->second;
    lock.unlock();
    Answer answer = ask();
    lock.lock();
    return answers.try_emplace(question, answer).first->second;
  }

private:
  std::mutex mutex;
  llvm::StringMap<Answer> answers;
};

} // namespace

/// Returns the cache key of a query about the library of a call.
static std::string questionOn(CallAttrInterface call, TargetAttr target) {
  std::string question = call.getKind().str() + ':' + std::to_string(target.getThreads()) + ':' +
                         std::to_string(target.getLibrary()) + ':';
  question.append(call.getBytes().begin(), call.getBytes().end());
  return question;
}

/// Programs for other processors fall back to the runtime's own code if oneDNN needs more scratch
/// there than here.
int64_t TargetAttr::getScratchBytes(CallAttrInterface call) const {
  const std::string kind = call.getKind().str();
  const bool fallsBack = getProcessor() != "host";
  static Memo<int64_t> memo;
  return memo.get(questionOn(call, *this) + std::to_string(fallsBack), [&] {
    auto bytesIn = [&](MtcCallLibrary library) {
      return mtc_call_scratch_bytes(library, kind.c_str(), call.getBytes().data(),
                                    static_cast<int>(getThreads()));
    };
    const int64_t bytes = bytesIn(getLibrary());
    return bytes >= 0 && fallsBack ? std::max(bytes, bytesIn(MTC_BUILT_IN)) : bytes;
  });
}

unsigned TargetAttr::getSupportLevel(CallAttrInterface call) const {
  static Memo<unsigned> memo;
  return memo.get(questionOn(call, *this), [&] {
    return mtc_call_support_level(getLibrary(), call.getKind().str().c_str(),
                                  call.getBytes().data(), static_cast<int>(getThreads()));
  });
}

bool TargetAttr::isFasterAsKernel(CallAttrInterface call) const {
  return mtc_call_is_faster_as_kernel(getLibrary(), call.getKind().str().c_str(),
                                      call.getBytes().data()) != 0;
}

/// Scratch sizes are computed on the machine that compiles, so both this machine and the target
/// must support the instructions.
Type TargetAttr::getProductType(Type element) const {
  if (!isNarrowFloat(element))
    return element;
  const Type f32 = Float32Type::get(getContext());
  if (!mtc_multiplies(getLibrary(), typeCode(element)))
    return f32;
  static Memo<bool> memo;
  const bool multiplies = memo.get((getProcessor() + ":" + getFeatures()).str(), [&] {
    auto processor = describeProcessor(getProcessor(), getFeatures());
    bool found = processor && processor->hasBFloat16Products();
    llvm::consumeError(processor.takeError());
    return found;
  });
  return multiplies ? element : f32;
}

/// Measures only for programs that run here, and whose times are measured here.
ChosenAlgorithm TargetAttr::chooseAlgorithm(CallAttrInterface call) const {
  if (getTune() == "off" || getLibrary() != MTC_ONEDNN || getProcessor() != "host" ||
      !getRates().empty())
    return {};
  return measureAlgorithms(call, static_cast<int>(getThreads()), getTune() == "full");
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, Precision, unsigned,
                                 StringRef, StringRef, StringRef rates, StringRef without,
                                 bool isStatic, StringRef tune) {
  if (!without.empty() && without != "onednn")
    return emitError() << "without " << without
                       << ": the target 'cpu' requires this library; expected onednn";
  if (llvm::Error error = checkTuning(tune))
    return emitError() << llvm::toString(std::move(error));
  if (isStatic && without.empty())
    return emitError() << "a static program has no oneDNN; expected without = \"onednn\"";
  if (llvm::Error error = checkRates(rates))
    return emitError() << llvm::toString(std::move(error));
  return success();
}

static const Rates &findRates(TargetAttr target) {
  return ratesOf(target.getRates(), target.getProcessor(), target.getFeatures(),
                 static_cast<int>(target.getThreads()), target.getLibrary());
}

double TargetAttr::getCallSeconds(CallAttrInterface call) const {
  return findRates(*this).getSeconds(call);
}

double TargetAttr::getKernelSeconds(Operation *kernel) const {
  return findRates(*this).getSeconds(costOfKernel(kernel));
}

MemorySpace TargetAttr::getOffloadSpace() const { return MemorySpace::Disk; }

double TargetAttr::getTransferSeconds(MemorySpace source, MemorySpace destination,
                                      int64_t bytes) const {
  if (source != MemorySpace::Disk && destination != MemorySpace::Disk)
    return getCopySeconds(bytes);
  const DiskRates &rates = diskRatesOf(getRates(), getProcessor());
  const double perSecond = source == MemorySpace::Disk ? rates.read : rates.write;
  return rates.overhead + static_cast<double>(bytes) / perSecond;
}

double TargetAttr::getCopySeconds(int64_t bytes) const {
  return findRates(*this).getCopySeconds(bytes);
}

std::string TargetAttr::describeRates() const { return findRates(*this).origin; }

KernelPlanAttrInterface TargetAttr::planKernel(Operation *kernel) const {
  return LoopsAttr::get(getContext(), planLoops(normalizeKernel(kernel)));
}

int64_t LoopsAttr::getScratchBytes() const { return getPlan().scratchBytes; }

std::string LoopsAttr::refuse(Operation *kernel) const {
  return refusePlan(getPlan(), normalizeKernel(kernel));
}

void LoopsAttr::print(AsmPrinter &printer) const { printPlan(printer, getPlan()); }

Attribute LoopsAttr::parse(AsmParser &parser, Type) {
  FailureOr<LoopPlan> plan = parsePlan<LoopPlan>(parser);
  return succeeded(plan) ? LoopsAttr::get(parser.getContext(), *plan) : LoopsAttr();
}
