//===- GpuFigures.h - What GPUs compute and copy, as their makers say -------------------------===//

#ifndef MTC_CODEGEN_CUDA_GPUFIGURES_H
#define MTC_CODEGEN_CUDA_GPUFIGURES_H

#include "ir/Mtc.h"

#include <string>

namespace mtc::cuda {

/// A GPU of an architecture. Estimates of time are of its figures times what well-written programs
/// reach of them, not of measurements.
struct GpuFigures {
  unsigned number; ///< of the compute capability, such as 90
  llvm::StringLiteral name;
  /// Peaks, dense, in 10^12 operations a second: of f64 and f32 units, of tensor cores.
  double f64, f32, tf32, half;
  double bandwidth; ///< of memory, in 10^9 bytes a second
  double bus;       ///< of PCI Express in each direction, in 10^9 bytes a second
  int processors;

  double getSeconds(CallAttrInterface call, ContractionPrecision precision) const;
  double getSeconds(const Cost &kernel) const;
  double getCopySeconds(int64_t bytes) const;
  /// Of a copy between its memory and pinned memory of the host.
  double getTransferSeconds(int64_t bytes) const;
};

/// Those of the architecture, or of the nearest one before it that has some.
const GpuFigures &figuresOf(unsigned number);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_GPUFIGURES_H
