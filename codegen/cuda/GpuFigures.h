//===- GpuFigures.h - Peak rates of GPUs for the cost model -----------------------------------===//

#ifndef MTC_CODEGEN_CUDA_GPUFIGURES_H
#define MTC_CODEGEN_CUDA_GPUFIGURES_H

#include "ir/Mtc.h"

#include "llvm/Support/Error.h"

#include <string>

namespace mtc::cuda {

/// Vendor-specified peak rates of a GPU. Time estimates are these rates times typical efficiencies,
/// not measurements.
struct GpuFigures {
  unsigned number;         ///< compute capability, such as 90
  llvm::StringLiteral key; ///< for --cost-model
  llvm::StringLiteral name;
  /// Peak dense throughput in 10^12 operations per second: f64 and f32 units, tensor cores.
  double f64, f32, tf32, half;
  double bandwidth; ///< memory bandwidth, in 10^9 bytes per second
  double bus;       ///< PCI Express bandwidth in each direction, in 10^9 bytes per second
  int processors;

  double getSeconds(CallAttrInterface call, ContractionPrecision precision) const;
  double getSeconds(const Cost &kernel) const;
  double getCopySeconds(int64_t bytes) const;
  /// Returns the time of a copy between device memory and pinned host memory.
  double getTransferSeconds(int64_t bytes) const;
};

/// Returns the figures of the first GPU of an architecture, or of the nearest earlier one in the
/// table.
const GpuFigures &figuresOf(unsigned number);
/// Returns the figures of a GPU by its key, or null.
const GpuFigures *findFigures(llvm::StringRef key);
/// Fails if `key` is no GPU of the table. An empty key is valid and selects none.
llvm::Error checkGpu(llvm::StringRef key);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_GPUFIGURES_H
