// The cuBLASLt handle of a device.
#ifndef MTC_RUNTIME_DEVICES_CUDA_BLAS_H
#define MTC_RUNTIME_DEVICES_CUDA_BLAS_H

#include "runtime/devices/cuda/blas_lt.h"

namespace mtc::runtime::cuda {

/// The library handle for one device.
class Blas {
public:
  /// Opens the library.
  Blas();
  ~Blas() { library.destroy(handle); }
  Blas(const Blas &) = delete;
  Blas &operator=(const Blas &) = delete;

  const BlasLt &library;
  BlasHandle handle = nullptr;

  /// Throws a system error if `status` is an error of the library.
  void check(int status, const char *what) const;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_BLAS_H
