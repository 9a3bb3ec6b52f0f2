#include "runtime/devices/cuda/blas.h"

#include "runtime/support/failure.h"

namespace mtc::runtime::cuda {

Blas::Blas() : library(openBlasLt()) {
  check(library.create(&handle), "cuBLASLt cannot be started");
}

void Blas::check(int status, const char *what) const {
  if (status != 0)
    systemError(what, ": ", library.statusText(status));
}

} // namespace mtc::runtime::cuda
