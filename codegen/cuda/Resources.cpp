//===- Resources.cpp - Multiprocessor resources of kernels ------------------------------------===//

#include "codegen/cuda/Resources.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mtc::cuda;

/// Returns the number before `what` in a line such as `Used 25 registers, 128 bytes smem`.
static unsigned numberBefore(StringRef line, StringRef what) {
  unsigned number = 0;
  size_t at = line.find(what);
  if (at == StringRef::npos)
    return 0;
  StringRef before = line.take_front(at).rtrim();
  before.substr(before.find_last_not_of("0123456789") + 1).getAsInteger(10, number);
  return number;
}

std::vector<Resources> mtc::cuda::readResources(StringRef log) {
  std::vector<Resources> result;
  for (StringRef line : split(log, '\n')) {
    if (line.contains("Compiling entry function '")) {
      result.emplace_back().symbol = line.split('\'').second.split('\'').first.str();
    } else if (result.empty()) {
      continue;
    } else if (line.contains("bytes stack frame")) {
      result.back().stackBytes = numberBefore(line, "bytes stack frame");
      result.back().spillStores = numberBefore(line, "bytes spill stores");
      result.back().spillLoads = numberBefore(line, "bytes spill loads");
    } else if (line.contains("registers")) {
      result.back().registers = numberBefore(line, "registers");
      result.back().sharedBytes = numberBefore(line, "bytes smem");
    }
  }
  return result;
}

namespace {

/// Multiprocessor limits that depend on the compute capability (CUDA C++ Programming Guide,
/// "Compute Capabilities", table of technical specifications).
struct Limits {
  unsigned threads, blocks, sharedBytes;
};

Limits limitsOf(const Architecture &architecture) {
  constexpr unsigned KiB = 1024;
  switch (architecture.major * 10 + architecture.minor) {
  case 80:
    return {2048, 32, 164 * KiB};
  case 86:
    return {1536, 16, 100 * KiB};
  case 87:
    return {1536, 16, 164 * KiB};
  case 89:
    return {1536, 24, 100 * KiB};
  case 90:
  case 100:
  case 103:
    return {2048, 32, 228 * KiB};
  case 110:
    return {1536, 24, 228 * KiB};
  default: // 120, 121
    return {1536, 24, 100 * KiB};
  }
}

} // namespace

Occupancy mtc::cuda::computeOccupancy(const Resources &resources, unsigned threadsOfBlock,
                                      const Architecture &architecture) {
  constexpr unsigned warpSize = 32, registersOfSm = 65536, registerUnit = 256, sharedUnit = 128,
                     sharedOfSystem = 1024; // reserved by the system per block
  Limits limits = limitsOf(architecture);
  unsigned warps = divideCeil(threadsOfBlock, warpSize);
  unsigned warpRegisters = alignTo(std::max(resources.registers, 1u) * warpSize, registerUnit);
  unsigned shared = alignTo(resources.sharedBytes + sharedOfSystem, sharedUnit);
  // Each of the four schedulers has a quarter of the registers and runs whole warps.
  unsigned warpsByRegisters = registersOfSm / 4 / warpRegisters * 4;
  std::pair<unsigned, StringRef> bounds[] = {
      {limits.threads / warpSize / warps, "threads"},
      {limits.blocks, "blocks"},
      {warpsByRegisters / warps, "registers"},
      {limits.sharedBytes / shared, "shared memory"},
  };
  auto [blocks, limit] =
      *llvm::min_element(bounds, [](const auto &a, const auto &b) { return a.first < b.first; });
  return {blocks, blocks * warps * warpSize, limits.threads, limit};
}

void mtc::cuda::printResources(ArrayRef<LaunchResources> launches, const Architecture &architecture,
                               raw_ostream &os) {
  size_t width = 6;
  for (const LaunchResources &launch : launches)
    width = std::max(width, launch.resources.symbol.size());
  os << architecture.name();
  if (architecture.isPtx())
    os << ", as " << architecture.processor() << " runs it";
  os << '\n'
     << formatv("{0} {1,7} {2,9} {3,7} {4,6} {5,6} {6,10}  {7}\n", left_justify("launch", width),
                "threads", "registers", "shared", "stack", "spills", "occupancy", "limited by");
  for (const LaunchResources &launch : launches) {
    const Resources &r = launch.resources;
    Occupancy occupancy = computeOccupancy(r, launch.threadsOfBlock, architecture);
    unsigned percent = 100 * occupancy.threads / occupancy.maximumThreads;
    unsigned spills = r.spillStores + r.spillLoads;
    os << formatv("{0} {1,7} {2,9} {3,7} {4,6} {5,6} {6,9}%  {7}{8}\n",
                  left_justify(r.symbol, width), launch.threadsOfBlock, r.registers, r.sharedBytes,
                  r.stackBytes, spills, percent, occupancy.limit, spills ? "  SPILLS" : "");
  }
}
