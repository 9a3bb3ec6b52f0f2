//===- CallAlgorithms.cpp - Measured algorithms of library calls ------------------------------===//

#include "codegen/cpu/CallAlgorithms.h"

#include "codegen/host/Processor.h"
#include "codegen/target/KernelCache.h"
#include "ir/TypeCode.h"
#include "runtime/abi/library_call.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <cmath>
#include <mutex>

using namespace mtc;
using namespace mtc::cpu;
using llvm::SmallVector;
using llvm::StringRef;

llvm::Error cpu::checkTuning(StringRef tune) {
  if (tune.empty() || tune == "off" || tune == "cached" || tune == "full")
    return llvm::Error::success();
  return llvm::createStringError("--tune " + tune + ": expected one of: off, cached, full");
}

//===------------------------------------------------------------------------------------------===//
// Samples
//===------------------------------------------------------------------------------------------===//

/// The number of operations of a sample, which takes some 10 milliseconds in f32.
static constexpr double maxFlops = 1e9;

/// Adapts the stride of a matrix to fewer rows and columns. Lines that were not dense keep their
/// stride. Dense lines keep their alignment and cache sets, because the stride remains equal modulo
/// a page of floats.
static void resize(int64_t *strides, int64_t rows, int64_t columns, int64_t newRows,
                   int64_t newColumns) {
  constexpr int64_t page = 1024;
  if (strides[1] == 1 && strides[0] == columns)
    strides[0] = newColumns + (columns - newColumns) % page;
  else if (strides[0] == 1 && strides[1] == rows)
    strides[1] = newRows + (rows - newRows) % page;
}

/// Returns small contractions unchanged. Large ones sum fewer terms, and then have fewer columns
/// and rows, but enough of them that a copy of an operand is still read many times.
static MtcContraction reduce(MtcContraction c) {
  constexpr int64_t fewestLines = 1024, fewestTerms = 768;
  auto fit = [](int64_t extent, int64_t minimum, int64_t others) {
    return std::min(extent, std::max(minimum, static_cast<int64_t>(maxFlops / 2) /
                                                  std::max<int64_t>(others, 1)));
  };
  const int64_t k = fit(c.k, fewestTerms, c.m * c.n), n = fit(c.n, fewestLines, c.m * k),
                m = fit(c.m, fewestLines, n * k);
  resize(c.lhs_strides, c.m, c.k, m, k);
  resize(c.rhs_strides, c.k, c.n, k, n);
  resize(c.out_strides, c.m, c.n, m, n);
  c.m = m;
  c.n = n;
  c.k = k;
  c.accumulate = c.addend_count = 0;
  for (auto &strides : c.addend_strides)
    llvm::fill(strides, 0);
  llvm::fill(c.addend_types, c.lhs_type);
  return c;
}

/// Keeps the windows, and computes fewer images.
static MtcConvolution reduce(MtcConvolution c, double flops) {
  c.batch = std::clamp<int64_t>(
      std::llround(static_cast<double>(c.batch) * std::min(1.0, maxFlops / flops)), 1, c.batch);
  c.has_bias = c.has_addend = 0;
  c.bias_type = c.addend_type = c.type;
  return c;
}

CallAttrInterface cpu::sampleOf(CallAttrInterface call, int threads) {
  // Threads share the work, and if the share of a thread takes less than a millisecond, copies do
  // not pay off. Samples of the largest images would take seconds.
  constexpr double minOfAThread = 1e8, maxOfAnImage = 2e10;
  const auto flops = static_cast<double>(call.getCost().flops);
  const MatrixProduct product = call.getProduct();
  if (flops < minOfAThread * std::max(threads, 1) || product.type == MTC_F64 ||
      !call.withAlgorithm(CallAlgorithm::OwnPanels))
    return {};
  mlir::MLIRContext *context = call.getContext();
  if (auto contraction = llvm::dyn_cast<ContractionCallAttr>(call)) {
    // Products in another type are computed by own panels as stored.
    const bool isLibrarys = product.productType == product.type;
    return isLibrarys ? ContractionCallAttr::get(context, reduce(*contraction.getRecord()))
                      : CallAttrInterface();
  }
  return llvm::TypeSwitch<mlir::Attribute, CallAttrInterface>(call)
      .Case<ConvolutionCallAttr, TransposedConvolutionCallAttr, ConvolutionWeightGradientCallAttr>(
          [&](auto convolution) -> CallAttrInterface {
            const MtcConvolution &c = *convolution.getRecord();
            if (c.activation != MTC_NO_ACTIVATION ||
                flops > maxOfAnImage * static_cast<double>(c.batch))
              return {};
            return decltype(convolution)::get(context, reduce(c, flops));
          })
      .Default(CallAttrInterface());
}

//===------------------------------------------------------------------------------------------===//
// Times
//===------------------------------------------------------------------------------------------===//

namespace {

constexpr int algorithmCount = MTC_WINOGRAD + 1;
/// The time of each algorithm on one thread, in seconds; negative if the call does not have the
/// algorithm or the library does not support it.
using Times = std::array<double, algorithmCount>;

/// The times of samples that this process has measured, or that are stored in the kernel cache.
class KnownTimes {
public:
  static KnownTimes &get() {
    static KnownTimes known;
    return known;
  }

  /// Returns nullopt if the sample has no times and the limit is reached.
  std::optional<Times> find(CallAttrInterface sample, bool again);

private:
  static constexpr double maxOfAProcess = 2.75; // seconds of CPU time

  std::mutex mutex; // Measurements also take turns.
  llvm::StringMap<Times> times;
  KernelCache cache{KernelCache::defaultFolder()};
  double spent = 0;
};

} // namespace

/// Returns the call with an algorithm, given by its number in the ABI; null if the call does not
/// have this algorithm.
static CallAttrInterface withAlgorithm(CallAttrInterface call, int algorithm) {
  return call.withAlgorithm(algorithm == MTC_AS_STORED
                                ? std::nullopt
                                : std::optional(static_cast<CallAlgorithm>(algorithm)));
}

/// Adds the CPU time of the measurement to `spent`.
static Times measure(CallAttrInterface sample, double &spent) {
  Times times;
  times.fill(-1);
  SmallVector<int> algorithms;
  SmallVector<const void *> descriptions;
  for (int algorithm = 0; algorithm < algorithmCount; ++algorithm)
    if (CallAttrInterface call = withAlgorithm(sample, algorithm)) {
      algorithms.push_back(algorithm);
      descriptions.push_back(call.getBytes().data());
    }
  SmallVector<int64_t> bytes;
  const CallShapes shapes = sample.getShapes();
  for (const auto *list : {&shapes.operands, &shapes.results})
    for (const CallShapes::Shape &shape : *list)
      bytes.push_back(std::max(shape.elements.value_or(0), shape.span.value_or(0)) *
                      mtc_type_bytes(shape.type));
  SmallVector<double> seconds(algorithms.size());
  spent += mtc_compare_calls(MTC_ONEDNN, sample.getKind().str().c_str(), descriptions.data(),
                             static_cast<int>(algorithms.size()), bytes.data(),
                             static_cast<int>(bytes.size()), seconds.data());
  for (auto [algorithm, found] : llvm::zip_equal(algorithms, seconds))
    times[static_cast<size_t>(algorithm)] = found;
  return times;
}

static std::string write(const Times &times) {
  std::string text;
  for (double seconds : times)
    text += llvm::formatv("{0:e17}\n", seconds);
  return text;
}

/// Returns nullopt if the text does not consist of a number for each algorithm.
static std::optional<Times> readTimes(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  Times times;
  if (lines.size() != times.size())
    return std::nullopt;
  for (auto [line, seconds] : llvm::zip_equal(lines, times))
    if (line.getAsDouble(seconds) || !std::isfinite(seconds))
      return std::nullopt;
  return times;
}

std::optional<Times> KnownTimes::find(CallAttrInterface sample, bool again) {
  const std::string what = sample.getKind().str() + ' ' + llvm::toHex(sample.getBytes());
  const std::lock_guard lock(mutex);
  if (auto known = times.find(what); known != times.end())
    return known->second;
  const std::string key =
      measurementKey(llvm::formatv("algorithms of {0} on {1} by {2}, version 5", what, nameOfHost(),
                                   mtc_library_version(MTC_ONEDNN))
                         .str());
  if (!again)
    if (std::unique_ptr<llvm::MemoryBuffer> kept = cache.find(key))
      if (std::optional<Times> found = readTimes(kept->getBuffer()))
        return times[what] = *found;
  if (!again && spent > maxOfAProcess)
    return std::nullopt;
  const Times measured = measure(sample, spent);
  cache.add(key, write(measured));
  return times[what] = measured;
}

//===------------------------------------------------------------------------------------------===//
// Choice
//===------------------------------------------------------------------------------------------===//

/// Returns whether the scratch of an algorithm is small, compared to the operands and in absolute
/// terms.
static bool needsLittle(CallAttrInterface call, int algorithm, int threads) {
  constexpr int64_t maximum = int64_t{16} << 20;
  const int64_t scratch =
      mtc_call_scratch_bytes(MTC_ONEDNN, call.getKind().str().c_str(),
                             withAlgorithm(call, algorithm).getBytes().data(), threads);
  return scratch >= 0 && scratch <= std::min(maximum, call.getCost().bytes);
}

ChosenAlgorithm cpu::measureAlgorithms(CallAttrInterface call, int threads, bool again) {
  // Smaller differences are within the noise of measurements.
  constexpr double minSpeedup = 1.02;
  // The library computes samples, which have fewer rows, columns and terms, up to 10 % faster than
  // whole matrices. The runtime's own panels have no such advantage.
  constexpr double gainOfPanels = 1.05;
  const CallAttrInterface sample = sampleOf(call, threads);
  if (!sample)
    return {};
  const std::optional<Times> times = KnownTimes::get().find(sample, again);
  if (!times || times->front() <= 0)
    return {};
  ChosenAlgorithm best;
  for (int algorithm = 1; algorithm < algorithmCount; ++algorithm) {
    const double gain = algorithm == MTC_OWN_PANELS ? gainOfPanels : 1,
                 seconds = (*times)[static_cast<size_t>(algorithm)] / gain,
                 speedup = times->front() / seconds;
    if (seconds > 0 && speedup >= minSpeedup && speedup > best.speedup &&
        needsLittle(call, algorithm, threads))
      best = {static_cast<CallAlgorithm>(algorithm), speedup};
  }
  return best;
}
