// One contraction of a program, prepared once by cuBLASLt.
#ifndef MTC_RUNTIME_CUDA_MATMUL_H
#define MTC_RUNTIME_CUDA_MATMUL_H

#include "runtime/abi/cuda.h"
#include "runtime/cuda/blas_lt.h"
#include "runtime/cuda/gpu.h"
#include "runtime/cuda/matmul_plan.h"

#include <memory>
#include <string>
#include <vector>

namespace mtc::runtime::cuda {

/// The library's state for one device.
class Blas {
public:
  /// Opens the library.
  Blas();
  ~Blas() { library.destroy(handle); }
  Blas(const Blas &) = delete;
  Blas &operator=(const Blas &) = delete;

  const BlasLt &library;
  BlasHandle handle = nullptr;

  /// Throws what went wrong in a call of the library.
  void check(int status, const char *what) const;
};

inline MtcCudaPrecision precisionOf(const MtcCudaProgram &program) {
  return static_cast<MtcCudaPrecision>(program.precision);
}

class Matmul {
public:
  /// Chooses the library's best algorithm for the plan over `places`, which are those of the
  /// contraction, with at most `workspaceBytes` at `workspace`. A product
  /// of f32 may take its operands rounded to `precision`. A fault of the system if the library has
  /// no algorithm.
  Matmul(const Blas &blas, const MatmulPlan &plan, std::vector<Address> places, Address workspace,
         int64_t workspaceBytes, MtcCudaPrecision precision);

  void enqueue(Stream stream) const;
  /// For profiles.
  std::string implementation() const;

private:
  template <typename Handle>
  using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, int (*)(Handle)>;

  Owned<MatrixLayoutHandle> layout(const PlacedMatrix &matrix) const;
  void describe(MtcCudaPrecision precision);
  void choose();
  Address address(uint32_t place, int64_t call = 0) const;

  const Blas &blas;
  MatmulPlan plan;
  std::vector<Address> places;
  Address workspace;
  int64_t workspaceBytes;
  Owned<MatrixLayoutHandle> a, b, c, d;
  Owned<MatmulDescription> description{nullptr, nullptr};
  MatmulAlgorithm algorithm = {};
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CUDA_MATMUL_H
