// Loads the functions of cuBLASLt.
#include "runtime/devices/cuda/blas_lt.h"

#include "runtime/devices/cuda/native/shared_library.h"
#include "runtime/support/failure.h"

namespace mtc::runtime::cuda {

static BlasLt loadBlasLt() {
  static const SharedLibrary library({"libcublasLt.so.13", "libcublasLt.so.12"});
  if (!library.isOpen())
    systemError("the program multiplies matrices by cuBLASLt, which is not installed here (looked "
                "for ",
                library.searched(),
                "). It comes with the CUDA toolkit, with the distribution's package libcublas, or "
                "with PyPI's nvidia-cublas; if it is elsewhere, set MTC_CUDA_PATH to its folder");
  BlasLt blas = {};
  auto load = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.find(name));
    if (!function)
      systemError("the installed cuBLASLt lacks ", name, "; install version 12 or later");
  };
  load(blas.create, "cublasLtCreate");
  load(blas.destroy, "cublasLtDestroy");
  load(blas.statusText, "cublasLtGetStatusString");
  load(blas.createLayout, "cublasLtMatrixLayoutCreate");
  load(blas.destroyLayout, "cublasLtMatrixLayoutDestroy");
  load(blas.setLayout, "cublasLtMatrixLayoutSetAttribute");
  load(blas.createDescription, "cublasLtMatmulDescCreate");
  load(blas.destroyDescription, "cublasLtMatmulDescDestroy");
  load(blas.setDescription, "cublasLtMatmulDescSetAttribute");
  load(blas.createPreference, "cublasLtMatmulPreferenceCreate");
  load(blas.destroyPreference, "cublasLtMatmulPreferenceDestroy");
  load(blas.setPreference, "cublasLtMatmulPreferenceSetAttribute");
  load(blas.findAlgorithms, "cublasLtMatmulAlgoGetHeuristic");
  load(blas.matmul, "cublasLtMatmul");
  return blas;
}

const BlasLt &openBlasLt() {
  static const BlasLt blas = loadBlasLt();
  return blas;
}

} // namespace mtc::runtime::cuda
