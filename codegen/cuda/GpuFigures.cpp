//===- GpuFigures.cpp - Peak rates of GPUs for the cost model ---------------------------------===//
//
// Sources: NVIDIA's data sheets and architecture white papers for A100 (SXM, 80 GB), A40, L40S,
// H100 (SXM), B200 (SXM) and the GeForce cards. Tensor core rates are without sparsity, with f32
// accumulation.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/cuda/GpuFigures.h"

#include "ir/TypeCode.h"
#include "runtime/abi/cuda_library_call.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;
using namespace mtc;
using namespace mtc::cuda;

/// The first GPU of an architecture is its default.
static constexpr GpuFigures known[] = {
    {80, "a100", "A100", 9.7, 19.5, 156, 312, 2039, 32, 108},
    {86, "a40", "A40", 0.58, 37.4, 74.8, 149.7, 696, 32, 84},
    {89, "l40s", "L40S", 1.4, 91.6, 183, 362, 864, 32, 142},
    {90, "h100", "H100", 33.5, 66.9, 494.7, 989.4, 3352, 64, 132},
    {100, "b200", "B200", 37, 75, 1100, 2250, 7700, 64, 148},
    {120, "rtx-5090", "GeForce RTX 5090", 1.6, 104.8, 104.8, 209.5, 1792, 64, 170},
    {86, "rtx-3060", "GeForce RTX 3060", 0.2, 12.7, 12.7, 25.5, 360, 32, 28},
    {86, "rtx-3090", "GeForce RTX 3090", 0.56, 35.6, 35.6, 71, 936, 32, 82},
    {89, "rtx-4060", "GeForce RTX 4060", 0.24, 15.1, 15.1, 30.2, 272, 16, 24},
    {89, "rtx-4070", "GeForce RTX 4070", 0.46, 29.1, 29.1, 58.3, 504, 32, 46},
    {89, "rtx-4090", "GeForce RTX 4090", 1.29, 82.6, 82.6, 165.2, 1008, 32, 128}};

const GpuFigures &cuda::figuresOf(unsigned number) {
  const GpuFigures *best = known;
  for (const GpuFigures &each : known)
    if (each.number <= number && each.number > best->number)
      best = &each;
  return *best;
}

const GpuFigures *cuda::findFigures(StringRef key) {
  const auto *found = llvm::find_if(known, [&](const GpuFigures &each) { return each.key == key; });
  return found == std::end(known) ? nullptr : found;
}

llvm::Error cuda::checkGpu(StringRef key) {
  if (key.empty() || findFigures(key))
    return llvm::Error::success();
  auto keys = llvm::map_range(known, [](const GpuFigures &each) { return each.key; });
  return llvm::createStringError("--cost-model " + key +
                                 ": unknown GPU; expected one of: " + llvm::join(keys, ", "));
}

/// Typical fractions of the peak rates that programs reach.
static constexpr double ofProducts = 0.7, ofAttention = 0.4, ofBandwidth = 0.85, ofBus = 0.8;
/// The overhead of a launch in a CUDA graph.
static constexpr double launchSeconds = 2e-6;

static double peakOf(const GpuFigures &gpu, const MatrixProduct &product,
                     ContractionPrecision precision) {
  switch (product.type) {
  case MTC_F64:
    return gpu.f64;
  case MTC_F32:
    return precision == ContractionPrecision::TF32 && !product.isExact ? gpu.tf32 : gpu.f32;
  default:
    return product.productType == MTC_F32 ? gpu.f32 : gpu.half;
  }
}

/// Returns the fraction of useful work of a matrix multiplication. Each multiprocessor computes one
/// tile at a time; the last wave and tiles at the edges are partial.
static double occupancy(const GpuFigures &gpu, const MatrixProduct &product, int64_t batch) {
  constexpr int64_t tile = 128;
  int64_t tiles = batch * llvm::divideCeil(product.m, tile) * llvm::divideCeil(product.n, tile);
  int64_t rounds = llvm::divideCeil(tiles, gpu.processors);
  double used = static_cast<double>(batch * product.m) * static_cast<double>(product.n);
  double computed = static_cast<double>(rounds * gpu.processors) * tile * tile;
  constexpr double halfK = 64; // number of terms that fills the pipeline
  return used / computed * static_cast<double>(product.k) /
         (static_cast<double>(product.k) + halfK);
}

/// Returns the launches of a call: in a sequence, a kernel follows each multiplication.
static double launchesOf(const MatrixProduct &product) {
  return product.inSequence ? 2 * static_cast<double>(product.inSequence) : 1;
}

double GpuFigures::getSeconds(CallAttrInterface call, ContractionPrecision precision) const {
  const Cost cost = call.getCost();
  const MatrixProduct product = call.getProduct();
  double rate = 1e12 * peakOf(*this, product, precision);
  if (cost.functions && !product.inSequence) {
    rate *= ofAttention;
  } else {
    int64_t flopsOfOne = std::max<int64_t>(2 * product.m * product.n * product.k, 1);
    int64_t batch = product.inSequence ? 1 : std::max<int64_t>(cost.flops / flopsOfOne, 1);
    rate *= ofProducts * occupancy(*this, product, batch) *
            mtc_cuda_call_efficiency(call.getKind().str().c_str(), call.getBytes().data(),
                                     static_cast<MtcCudaPrecision>(precision));
  }
  return launchesOf(product) * launchSeconds +
         std::max(static_cast<double>(cost.flops) / rate,
                  static_cast<double>(cost.bytes) / (1e9 * ofBandwidth * bandwidth));
}

double GpuFigures::getSeconds(const Cost &kernel) const {
  // The peak counts fused multiply-adds as two operations, while separate additions and
  // multiplications take a slot each. Special function units have a fourth of the rate.
  double arithmetic =
      (2 * static_cast<double>(kernel.flops) + 8 * static_cast<double>(kernel.functions)) /
      (1e12 * f32);
  return launchSeconds +
         std::max(arithmetic, static_cast<double>(kernel.bytes) / (1e9 * ofBandwidth * bandwidth));
}

double GpuFigures::getCopySeconds(int64_t bytes) const { return getSeconds(Cost{0, 2 * bytes, 0}); }

double GpuFigures::getTransferSeconds(int64_t bytes) const {
  return launchSeconds + static_cast<double>(bytes) / (1e9 * ofBus * bus);
}
