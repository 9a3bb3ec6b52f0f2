//===- Rates.cpp - Rates of the CPU cost model ------------------------------------------------===//

#include "codegen/cpu/Rates.h"

#include "ir/TypeCode.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <mutex>

using namespace mtc;
using namespace mtc::cpu;
using llvm::StringRef;

//===------------------------------------------------------------------------------------------===//
// Time estimates
//===------------------------------------------------------------------------------------------===//

std::string Rates::keyOf(StringRef kind, const MatrixProduct &product) {
  std::string key = (kind + " " + typeName(product.type)).str();
  if (product.storage)
    return key + " stored";
  return product.productType == product.type ? key
                                             : (key + " in " + typeName(product.productType)).str();
}

/// Returns the rate of a call. Calls that were not measured use the rate of the most similar type.
double Rates::rateOf(StringRef kind, const MatrixProduct &product) const {
  MatrixProduct inF32 = product, plain;
  inF32.type = inF32.productType = plain.type = plain.productType = MTC_F32;
  for (const std::string &key : {keyOf(kind, product), keyOf(kind, inF32), keyOf(kind, plain)})
    if (auto known = calls.find(key); known != calls.end())
      return known->second;
  return calls.lookup(keyOf(MTC_CONTRACTION, plain));
}

double Rates::efficiency(const MatrixProduct &product) const {
  auto part = [](int64_t extent, double half) {
    auto size = static_cast<double>(extent);
    return size / (size + half);
  };
  return part(product.m, halfM) * part(product.n, halfN) * part(product.k, halfK);
}

/// Interpolates between measured sizes, linearly in the logarithm of the size.
double Rates::bandwidth(int64_t bytes) const {
  if (bytes <= copies.front().bytes)
    return copies.front().perSecond;
  for (auto [low, high] : llvm::zip(copies, llvm::drop_begin(copies)))
    if (bytes < high.bytes) {
      double part = std::log2(static_cast<double>(bytes) / static_cast<double>(low.bytes)) /
                    std::log2(static_cast<double>(high.bytes) / static_cast<double>(low.bytes));
      return low.perSecond + part * (high.perSecond - low.perSecond);
    }
  return copies.back().perSecond;
}

double Rates::getSeconds(CallAttrInterface call) const {
  // In a step, operands are loaded from memory, and threads wait for the slowest one.
  constexpr double ofRate = 0.85;
  Cost cost = call.getCost();
  MatrixProduct product = call.getProduct();
  double rate = ofRate * rateOf(call.getKind(), product) * efficiency(product);
  return overhead + std::max(static_cast<double>(cost.flops) / std::max(rate, 1.0),
                             static_cast<double>(cost.bytes) / bandwidth(cost.bytes));
}

double Rates::getSeconds(const Cost &kernel) const {
  // Rates relative to matrix multiplications, which use fused multiply-adds without waiting for
  // operands.
  constexpr double ofArithmetic = 1.0 / 4, ofFunctions = 1.0 / 24;
  // The overhead of a kernel, relative to that of a call: a kernel does not call a library.
  constexpr double ofOverhead = 1.0 / 4;
  double products = calls.lookup(keyOf(MTC_CONTRACTION, {.type = MTC_F32}));
  double arithmetic = (static_cast<double>(kernel.flops) / ofArithmetic +
                       static_cast<double>(kernel.functions) / ofFunctions) /
                      products;
  return ofOverhead * overhead +
         std::max(arithmetic, static_cast<double>(kernel.bytes) / bandwidth(kernel.bytes));
}

double Rates::getUncachedSeconds(const Cost &kernel) const {
  const Cost arithmetic{.flops = kernel.flops, .bytes = 0, .functions = kernel.functions};
  return std::max(getSeconds(arithmetic),
                  static_cast<double>(kernel.bytes) / copies.back().perSecond);
}

double Rates::getCopySeconds(int64_t bytes) const {
  return overhead + 2 * static_cast<double>(bytes) / bandwidth(2 * bytes);
}

//===------------------------------------------------------------------------------------------===//
// Processor classes
//===------------------------------------------------------------------------------------------===//

namespace {

/// Rates of one thread of a server processor of the class, at about 3 GHz.
struct RateClass {
  llvm::StringLiteral name, description;
  double products; ///< operations per second of large f32 contractions
  double bfloat16; ///< rate of bf16 contractions relative to f32; 0 if they are computed in f32
};

constexpr RateClass classes[] = {{"avx512bf16", "AVX-512 BF16", 150e9, 2},
                                 {"avx512", "AVX-512", 120e9, 0},
                                 {"avx2", "AVX2", 75e9, 0},
                                 {"sse", "SSE", 20e9, 0},
                                 {"neon", "NEON", 30e9, 0}};

} // namespace

llvm::Error cpu::checkRates(StringRef name) {
  auto names = llvm::map_range(classes, [](const RateClass &each) { return each.name; });
  if (name.empty() || llvm::is_contained(names, name))
    return llvm::Error::success();
  return llvm::createStringError(
      "--cost-model " + name +
      ": unknown processor class; expected one of: " + llvm::join(names, ", "));
}

StringRef cpu::classOf(const Processor &processor) {
  if (!processor.isX86())
    return "neon";
  if (processor.hasBFloat16Products())
    return "avx512bf16";
  if (processor.hasAvx512())
    return "avx512";
  return processor.hasFloat16Conversion() ? "avx2" : "sse"; // Almost all CPUs with F16C have AVX2.
}

Rates cpu::ratesOfClass(StringRef name, int threads) {
  const RateClass &each =
      *llvm::find_if(classes, [&](const RateClass &each) { return each.name == name; });
  const double products = each.products * threads;
  Rates rates;
  rates.origin = ("at rates of processors with " + each.description + ", not measured").str();
  // Rates relative to f32 contractions, measured on machines of these classes.
  constexpr std::pair<const char *, double> relative[] = {
      {"contraction f64", 0.02},         {"contraction f32", 1},
      {"contraction f32 stored", 0.9},   {"contraction bf16 in f32", 0.9},
      {"contraction f16 in f32", 0.9},   {"attention f32", 0.5},
      {"attention gradient f32", 0.6},   {"convolution f32", 1},
      {"transposed_convolution f32", 1}, {"convolution_weight_gradient f32", 0.9}};
  for (auto [key, ratio] : relative)
    rates.calls[key] = ratio * products;
  if (each.bfloat16 > 0) {
    for (const char *kind :
         {"contraction", "convolution", "transposed_convolution", "convolution_weight_gradient"})
      rates.calls[std::string(kind) + " bf16"] = each.bfloat16 * products;
    // The softmax is computed in f32.
    rates.calls["attention bf16"] = 0.8 * products;
    rates.calls["attention gradient bf16"] = products;
  }
  // Private caches, shared caches, and memory, whose bandwidth is shared by all cores.
  rates.copies = {{int64_t{256} << 10, 60e9 * threads},
                  {int64_t{16} << 20, 20e9 * threads},
                  {int64_t{128} << 20, std::min(15e9 * threads, 100e9)}};
  rates.overhead = 2e-6;
  rates.halfM = rates.halfN = rates.halfK = 16;
  return rates;
}

const Rates &cpu::ratesOf(StringRef rates, StringRef processor, StringRef features, int threads,
                          MtcCallLibrary library) {
  static std::mutex mutex;
  static llvm::StringMap<Rates> known;
  std::lock_guard<std::mutex> lock(mutex);
  auto [entry, isNew] = known.try_emplace(llvm::join_items(
      '\n', rates, processor, features, std::to_string(threads), std::to_string(library)));
  if (!isNew)
    return entry->second;
  std::optional<Rates> measured;
  if (rates.empty() && processor == "host")
    measured = measureRates(threads, library);
  std::string name = rates.str();
  if (name.empty() && !measured) {
    auto described = describeProcessor(processor, features);
    name = described ? classOf(*described) : "sse";
    llvm::consumeError(described.takeError());
  }
  return entry->second = measured ? std::move(*measured) : ratesOfClass(name, threads);
}
