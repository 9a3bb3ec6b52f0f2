// cuBLASLt's epilogues, beside adding a bias.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_EPILOGUE_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_EPILOGUE_H

#include "runtime/devices/cuda/emulated/libraries/matrix.h"

#include <string>

namespace mtc::runtime::cuda {

/// One of them, with the matrices of the product: `a` and `b` as they lie.
struct BlasEpilogue {
  uint32_t kind = plainEpilogue; ///< bits of `Epilogue`
  Address auxiliary = 0;
  int64_t auxiliaryLeading = 0, auxiliaryStride = 0;
  Address vector = 0; ///< the bias, or where the sums go
  bool transposesA = false, transposesB = false;
  MatrixLayoutObject a, b, d;
  char *aData = nullptr, *bData = nullptr, *dData = nullptr;

  /// Whether the library has it: the kind, in this type, with an auxiliary matrix that lies as
  /// NVIDIA asks.
  bool isSupported() const;
  /// What is wrong with what it reads and writes besides the product; empty if nothing is.
  std::string findFault() const;
  /// Applies it to the product in `d`, the bias included.
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
