// Epilogues of the emulated cuBLASLt, other than adding a bias.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_EPILOGUE_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_EPILOGUE_H

#include "runtime/devices/cuda/emulated/libraries/matrix.h"

#include <string>

namespace mtc::runtime::cuda {

/// An epilogue and the matrices of its multiplication; `a` and `b` are in memory layout, before
/// transposition.
struct BlasEpilogue {
  uint32_t kind = plainEpilogue; ///< bits of `Epilogue`
  gpu::Address auxiliary = 0;
  int64_t auxiliaryLeading = 0, auxiliaryStride = 0;
  gpu::Address vector = 0; ///< the bias, or the destination of the sums
  bool transposesA = false, transposesB = false;
  MatrixLayoutObject a, b, d;
  char *aData = nullptr, *bData = nullptr, *dData = nullptr;

  /// Returns whether the library supports the epilogue: the kind, in this type, with an auxiliary
  /// matrix in the layout that NVIDIA requires.
  bool isSupported() const;
  /// Returns an error message about the additional operands and results; empty if they are valid.
  std::string findFault() const;
  /// Applies the epilogue, including the bias, to the result in `d`.
  void run() const;

private:
  bool writesSums() const;
  MatrixLayoutObject auxiliaryLayout() const;
  int64_t sumCount() const;
  void activate() const;
  void sum() const;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_EPILOGUE_H
