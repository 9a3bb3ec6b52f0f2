//===- MeasureRates.cpp - Measurement of this machine's rates ---------------------------------===//

#include "codegen/cpu/Rates.h"
#include "codegen/target/KernelCache.h"
#include "ir/TypeCode.h"
#include "runtime/abi/library_call.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Threading.h"

#include <chrono>
#include <cmath>
#include <limits>

using namespace mtc;
using namespace mtc::cpu;
using llvm::StringRef;

//===------------------------------------------------------------------------------------------===//
// Timed calls
//===------------------------------------------------------------------------------------------===//

namespace {

/// A timed call with dense operands.
struct Probe {
  CallAttrInterface call;
  std::vector<int64_t> bytes; ///< of operands and results; may have additional elements
  double seconds = std::numeric_limits<double>::infinity(); ///< minimum; negative: failed
};

/// A timed copy of a block.
struct Copies {
  int64_t bytes;
  /// The seconds of a copy on one thread, and on all threads together.
  double alone = std::numeric_limits<double>::infinity(), together = alone;

  double seconds() const { return std::min(alone, together); }
};

/// Times calls on one thread, and derives the speedup of all threads from a large matrix
/// multiplication. Measurements are repeated for most of a second and the minimum is used, since
/// other load on the machine slows down some runs but rarely all.
class Prober {
public:
  Prober(mlir::MLIRContext &context, int threads, MtcCallLibrary library)
      : context(context), threads(threads), library(library) {}

  std::optional<Rates> run();

private:
  /// The extents of large and small matrices.
  static constexpr int64_t large = 768, small = 64;

  Probe contraction(uint32_t type, int64_t m, int64_t n, int64_t k,
                    std::optional<uint32_t> productType = std::nullopt,
                    uint32_t storage = MTC_STORED_AS_IS);
  Probe attention(uint32_t type, bool isGradient);
  template <typename Attr> Probe convolution(uint32_t type);
  std::vector<Probe> chooseCalls();

  double secondsOf(const Probe &probe, int threads) const {
    return mtc_call_seconds(library, probe.call.getKind().str().c_str(),
                            probe.call.getBytes().data(), probe.bytes.data(),
                            static_cast<int>(probe.bytes.size()), threads);
  }
  /// Measures a call on one thread.
  void measure(Probe &probe) const { probe.seconds = std::min(probe.seconds, secondsOf(probe, 1)); }
  void measureRound();
  Rates summarize();

  mlir::MLIRContext &context;
  int threads;
  MtcCallLibrary library;
  Probe nothing = contraction(MTC_F32, 8, 8, 8), whole = contraction(MTC_F32, large, large, large),
        fewRows = contraction(MTC_F32, small, large, large),
        fewColumns = contraction(MTC_F32, large, small, large),
        fewTerms = contraction(MTC_F32, large, large, small);
  std::vector<Probe> calls = chooseCalls();
  std::vector<Copies> copies = {{64 << 10}, {1 << 20}, {4 << 20}, {48 << 20}};
  double together = std::numeric_limits<double>::infinity(); ///< time of `whole` on all threads
};

} // namespace

Probe Prober::contraction(uint32_t type, int64_t m, int64_t n, int64_t k,
                          std::optional<uint32_t> productType, uint32_t storage) {
  MtcContraction c = {};
  mtc_set_contraction_types(&c, type);
  c.product_type = productType.value_or(type);
  c.m = m;
  c.n = n;
  c.k = k;
  c.rhs_storage = storage;
  auto fill = [](int64_t *strides, int64_t columns) {
    strides[0] = columns;
    strides[1] = 1;
  };
  fill(c.lhs_strides, k);
  fill(c.rhs_strides, n);
  fill(c.out_strides, n);
  int64_t bytes = mtc_type_bytes(type);
  return {ContractionCallAttr::get(&context, c), {bytes * m * k, bytes * k * n, bytes * m * n}};
}

Probe Prober::attention(uint32_t type, bool isGradient) {
  MtcAttention a = {};
  a.type = type;
  a.batch = 1;
  a.heads = a.key_heads = 4;
  a.queries = a.keys = 256;
  a.width = a.value_width = 64;
  a.scale = 0.125;
  for (int64_t *strides : {a.query, a.key, a.value, a.out, a.d_query, a.d_key, a.d_value}) {
    strides[3] = 1;
    strides[2] = a.width;
    strides[1] = a.width * a.queries;
    strides[0] = strides[1] * a.heads;
  }
  int64_t all = 4 * a.heads * a.queries * a.width;
  if (isGradient)
    return {AttentionGradientCallAttr::get(&context, a), std::vector<int64_t>(9, all)};
  return {AttentionCallAttr::get(&context, a), std::vector<int64_t>(5, all)};
}

template <typename Attr> Probe Prober::convolution(uint32_t type) {
  MtcConvolution c = {};
  mtc_set_convolution_types(&c, type);
  c.window_rank = 2;
  c.batch = 4;
  c.groups = 1;
  c.input_channels = c.output_channels = 64;
  for (int axis = 0; axis < 2; ++axis) {
    c.input[axis] = c.output[axis] = 28;
    c.kernel[axis] = 3;
    c.strides[axis] = c.dilations[axis] = c.before[axis] = 1;
  }
  int64_t all = 4 * c.batch * 64 * 28 * 28;
  return {Attr::get(&context, c), std::vector<int64_t>(3, all)};
}

std::vector<Probe> Prober::chooseCalls() {
  constexpr int64_t ofLoops = 128; // f64 is computed by plain loops, not by a library.
  std::vector<Probe> calls = {contraction(MTC_F64, ofLoops, ofLoops, ofLoops),
                              contraction(MTC_F32, large, large, large),
                              contraction(MTC_F32, large, large, large, MTC_F32, MTC_STORED_NF4)};
  for (uint32_t type : {MTC_BF16, MTC_F16}) {
    if (mtc_multiplies(library, type))
      calls.push_back(contraction(type, large, large, large));
    calls.push_back(contraction(type, large, large, large, MTC_F32));
  }
  for (uint32_t type : {MTC_F32, MTC_BF16}) {
    calls.insert(calls.end(), {attention(type, false), attention(type, true)});
    if (type == MTC_F32 || mtc_multiplies(library, type))
      calls.insert(calls.end(), {convolution<ConvolutionCallAttr>(type),
                                 convolution<TransposedConvolutionCallAttr>(type),
                                 convolution<ConvolutionWeightGradientCallAttr>(type)});
  }
  return calls;
}

/// Returns the extent at which the rate is half of its limit for large extents, given the `ratio`
/// of the rates at `small` and at `large`.
static double halfOf(double ratio, double large, double small) {
  ratio = std::clamp(ratio, 0.3, 1.0);
  // ratio = small / (small + half) * (large + half) / large
  return (1 - ratio) / (ratio / small - 1.0 / large);
}

void Prober::measureRound() {
  for (Probe *probe : {&nothing, &whole, &fewRows, &fewColumns, &fewTerms})
    measure(*probe);
  for (Probe &probe : calls)
    measure(probe);
  together = std::min(together, secondsOf(whole, threads));
  for (Copies &each : copies) {
    each.alone = std::min(each.alone, mtc_copy_seconds(each.bytes, 1));
    each.together = std::min(each.together, mtc_copy_seconds(each.bytes, threads));
  }
}

std::optional<Rates> Prober::run() {
  constexpr double longEnough = 0.6;
  constexpr int minRounds = 3, maxRounds = 20;
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  for (int round = 0; round < minRounds || (round < maxRounds && seconds() < longEnough); ++round)
    measureRound();
  if (whole.seconds <= 0 || together <= 0 ||
      llvm::any_of(copies, [](const Copies &each) { return each.seconds() <= 0; }))
    return std::nullopt;
  return summarize();
}

Rates Prober::summarize() {
  // All threads are at least as fast as one, and at most `threads` times as fast.
  const double speedup = std::clamp(whole.seconds / together, 1.0, static_cast<double>(threads));
  Rates rates;
  rates.overhead = std::max(nothing.seconds, 1e-7);
  auto half = [&](const Probe &part) {
    return halfOf(small * whole.seconds / (large * std::max(part.seconds, 1e-9)), large, small);
  };
  rates.halfM = half(fewRows);
  rates.halfN = half(fewColumns);
  rates.halfK = half(fewTerms);
  for (const Copies &each : copies)
    rates.copies.push_back({2 * each.bytes, 2 * static_cast<double>(each.bytes) / each.seconds()});
  for (const Probe &probe : calls) {
    MatrixProduct product = probe.call.getProduct();
    if (probe.seconds > rates.overhead)
      rates.calls[Rates::keyOf(probe.call.getKind(), product)] =
          speedup * static_cast<double>(probe.call.getCost().flops) /
          (probe.seconds - rates.overhead) / rates.efficiency(product);
  }
  return rates;
}

//===------------------------------------------------------------------------------------------===//
// Storage of the rates in the kernel cache
//===------------------------------------------------------------------------------------------===//

/// Writes one line per number: its name, a tab and the value with all digits.
static std::string write(const Rates &rates) {
  std::string text;
  auto add = [&](StringRef name, double value) {
    text += llvm::formatv("{0}\t{1:e17}\n", name, value);
  };
  add("overhead", rates.overhead);
  add("half m", rates.halfM);
  add("half n", rates.halfN);
  add("half k", rates.halfK);
  for (const Rates::Copy &copy : rates.copies)
    add(("copy " + llvm::Twine(copy.bytes)).str(), copy.perSecond);
  for (const auto &[key, rate] : rates.calls)
    add(("call " + key).str(), rate);
  return text;
}

/// Returns nullopt if a number is missing or invalid.
static std::optional<Rates> readRates(StringRef text) {
  Rates rates;
  llvm::StringMap<double *> fields = {{"overhead", &rates.overhead},
                                      {"half m", &rates.halfM},
                                      {"half n", &rates.halfN},
                                      {"half k", &rates.halfK}};
  for (StringRef line : llvm::split(text.rtrim('\n'), '\n')) {
    auto [name, number] = line.split('\t');
    double value = 0;
    int64_t bytes = 0;
    if (number.getAsDouble(value) || !std::isfinite(value) || value < 0)
      return std::nullopt;
    if (auto field = fields.find(name); field != fields.end())
      *field->second = value;
    else if (name.consume_front("call "))
      rates.calls[name] = value;
    else if (name.consume_front("copy ") && !name.getAsInteger(10, bytes) && value > 0)
      rates.copies.push_back({bytes, value});
    else
      return std::nullopt;
  }
  if (rates.copies.empty() || !rates.calls.count("contraction f32") || rates.overhead <= 0)
    return std::nullopt;
  return rates;
}

std::optional<Rates> cpu::measureRates(int threads, MtcCallLibrary library) {
  // Threads beyond the number of cores do not increase the rates.
  const auto cores = static_cast<int>(llvm::hardware_concurrency().compute_thread_count());
  threads = std::min(threads, cores);
  const std::string processor = nameOfHost();
  const std::string key =
      measurementKey(llvm::formatv("rates of {0}, {1} threads, library {2}, version 3", processor,
                                   threads, static_cast<int>(library))
                         .str());
  KernelCache cache(KernelCache::defaultFolder());
  std::optional<Rates> rates;
  if (std::unique_ptr<llvm::MemoryBuffer> kept = cache.find(key))
    rates = readRates(kept->getBuffer());
  if (!rates) {
    mlir::DialectRegistry registry;
    registry.insert<MtcDialect>();
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    context.loadAllAvailableDialects();
    rates = Prober(context, threads, library).run();
    if (rates)
      cache.add(key, write(*rates));
  }
  if (rates)
    rates->origin = llvm::formatv("calibrated on {0}, {1} thread{2}", processor, threads,
                                  threads == 1 ? "" : "s");
  return rates;
}
