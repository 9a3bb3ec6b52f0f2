//===- CheckKernels.cpp - Comparison of emitted kernels with the interpreter ------------------===//

#include "tools/mtc-run/CheckKernels.h"

#include "codegen/Jit.h"
#include "codegen/kernels/KernelInterpreter.h"
#include "ir/builders/Scalar.h"
#include "tools/mtc-run/KernelRunner.h"

#include "llvm/Support/Format.h"

#include <chrono>
#include <cmath>
#include <random>

using namespace mlir;
using namespace mtc;

namespace {

/// The operands of a kernel and the expected results.
class Operands {
public:
  Operands(KernelFunctionOp kernel, int64_t scratchBytes, KernelRunner &runner)
      : inputTypes(kernel.getInputTypes()), outputTypes(kernel.getOutputTypes()) {
    auto ranges = kernel->getAttrOfType<ArrayAttr>("run.ranges");
    for (auto [i, type] : llvm::enumerate(inputTypes)) {
      inputs.push_back(runner.allocate(byteSize(type), 0));
      bool isFloat = isa<FloatType>(type.getElementType());
      double low = isFloat ? -1 : 0, high = isFloat ? 1 : 2;
      if (ranges) {
        auto range = cast<ArrayAttr>(ranges[i]);
        low = number(range[0]);
        high = number(range[1]);
      }
      fill(inputs.back().get(), type, low, high, i);
      runner.markDefined(inputs.back().get(), byteSize(type));
    }
    // The fill pattern exposes elements that are never stored.
    for (RankedTensorType type : outputTypes) {
      outputs.push_back(runner.allocate(byteSize(type), 0x7b));
      expected.push_back(runner.allocate(byteSize(type), 0x7b));
    }
    if (auto shared = kernel->getAttrOfType<ArrayAttr>("run.in_place"))
      for (auto input : shared.getAsRange<IntegerAttr>())
        sharedInputs.push_back(input.getInt());
    if (scratchBytes > 0)
      scratch.push_back(runner.allocate(scratchBytes, 0x7b));
  }

  SmallVector<char *> pointers() {
    SmallVector<char *> result;
    for (Buffer &buffer : inputs)
      result.push_back(buffer.get());
    for (unsigned i = 0; i < outputs.size(); ++i)
      result.push_back(placeOf(i));
    for (Buffer &buffer : scratch)
      result.push_back(buffer.get());
    return result;
  }

  /// Computes the expected results for the current inputs.
  llvm::Error interpret(KernelFunctionOp kernel) {
    SmallVector<const char *> from;
    SmallVector<char *> to;
    for (Buffer &buffer : inputs)
      from.push_back(buffer.get());
    for (Buffer &buffer : expected)
      to.push_back(buffer.get());
    return interpretKernel(kernel, from, to);
  }

  struct Difference {
    /// The maximum of |found - expected| / max(1, |expected|) over all results; infinity if exactly
    /// one of them is finite, or one is NaN.
    double relative = 0;
    /// The maximum difference in ULP of f32, over all f32 results.
    double ulps = 0;
  };

  Difference compare() {
    Difference worst;
    for (unsigned i = 0; i < outputTypes.size(); ++i) {
      Type element = outputTypes[i].getElementType();
      for (int64_t k = 0; k < outputTypes[i].getNumElements(); ++k) {
        int64_t offset = k * elementBytes(element);
        double found = number(readElement(placeOf(i) + offset, element));
        double wanted = number(readElement(expected[i].get() + offset, element));
        if (found == wanted || (std::isnan(found) && std::isnan(wanted)))
          continue;
        bool comparable = std::isfinite(found) && std::isfinite(wanted);
        double difference = comparable ? std::abs(found - wanted) : INFINITY;
        worst.relative = std::max(worst.relative,
                                  difference / (comparable ? std::max(1.0, std::abs(wanted)) : 1));
        int exponent = std::max(-126, comparable && wanted != 0 ? std::ilogb(wanted) : -126);
        if (element.isF32())
          worst.ulps = std::max(worst.ulps, std::ldexp(difference, 23 - exponent));
      }
    }
    return worst;
  }

private:
  char *placeOf(unsigned result) {
    int64_t input = sharedInputs.empty() ? -1 : sharedInputs[result];
    return input < 0 ? outputs[result].get() : inputs[input].get();
  }

  static double number(Attribute value) {
    if (auto real = dyn_cast<FloatAttr>(value))
      return real.getValueAsDouble();
    return static_cast<double>(cast<IntegerAttr>(value).getValue().getSExtValue());
  }

  static void fill(char *bytes, RankedTensorType type, double low, double high, unsigned seed) {
    std::mt19937_64 random(seed + 1);
    std::uniform_real_distribution<double> distribution(low, high);
    Type element = type.getElementType(), scalar = getScalarType(element);
    int64_t step = elementBytes(element);
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      double value = distribution(random);
      if (element.isF32()) {
        float narrow = static_cast<float>(value);
        std::memcpy(bytes + i * step, &narrow, 4);
        continue;
      }
      Attribute attribute;
      if (isa<FloatType>(scalar))
        attribute = FloatAttr::get(scalar, value);
      else
        attribute = IntegerAttr::get(scalar, APInt(scalar.getIntOrFloatBitWidth(),
                                                   static_cast<int64_t>(std::floor(value)),
                                                   /*isSigned=*/true, /*implicitTrunc=*/true));
      writeElement(bytes + i * step, element, attribute);
    }
  }

  SmallVector<RankedTensorType> inputTypes, outputTypes;
  std::vector<Buffer> inputs, outputs, expected, scratch;
  SmallVector<int64_t> sharedInputs; ///< from `run.in_place`; empty if absent
};

double secondsPerRun(KernelRunner &runner, const MtcKernel &kernel, ArrayRef<char *> operands) {
  using Clock = std::chrono::steady_clock;
  double best = INFINITY;
  MtcFault fault = {};
  auto started = Clock::now();
  for (int run = 0; run < 200 && Clock::now() - started < std::chrono::seconds(1); ++run) {
    auto before = Clock::now();
    runner.runOnce(kernel, operands, fault);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - before).count());
  }
  return best;
}

} // namespace

LogicalResult mtc::checkKernels(ModuleOp module, Target &target, const CheckOptions &check) {
  if (module.getOps<ArenaOp>().empty()) {
    OpBuilder b(module.getBodyRegion());
    ArenaOp::create(b, module.getLoc(), 0, 0, 0, 0, 0, 0, 0, LocationAttr());
  }
  FailureOr<std::unique_ptr<JitProgram>> program = JitProgram::create(module, target);
  if (failed(program))
    return failure();
  std::unique_ptr<KernelRunner> runner = KernelRunner::create((*program)->program());
  bool allRight = true;
  uint32_t index = 0;
  raw_ostream &os = llvm::outs();
  for (KernelFunctionOp function : module.getOps<KernelFunctionOp>()) {
    const MtcKernel &kernel = (*program)->program().kernels[index++];
    Operands operands(function, kernel.scratch_bytes, *runner);
    os << '@' << kernel.name << ':';
    runner->describe(kernel, os);
    if (check.compare) {
      MtcFault fault = {};
      llvm::Error error = operands.interpret(function);
      if (llvm::Error wrong = runner->run(kernel, operands.pointers(), fault)) {
        os << " WRONG " << llvm::toString(std::move(wrong)) << '\n';
        llvm::consumeError(std::move(error));
        allRight = false;
        continue;
      }
      if (error || fault.raised) {
        std::string message = llvm::toString(std::move(error));
        bool agree = fault.raised && !message.empty();
        os << (agree ? " fault" : " WRONG fault") << " index " << fault.index << " extent "
           << fault.extent << " (" << message << ')';
        allRight &= agree;
      } else {
        Operands::Difference difference = operands.compare();
        bool right = difference.relative <= check.tolerance;
        os << (right ? " ok" : " WRONG")
           << llvm::format(" error %.2g, %.1f ulps", difference.relative, difference.ulps);
        allRight &= right;
      }
    }
    if (check.time) {
      double seconds = secondsPerRun(*runner, kernel, operands.pointers());
      os << llvm::format(" %.1f us %.2f GB/s", seconds * 1e6, kernel.bytes / seconds * 1e-9);
    }
    os << '\n';
  }
  if (index == 0)
    return module.emitError("no mtc.kernel_function to check");
  return success(allRight);
}
