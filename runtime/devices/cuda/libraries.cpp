#include "runtime/devices/cuda/call.h"

namespace mtc::runtime::cuda {

Blas &Libraries::openBlas() {
  if (!blas)
    blas = std::make_unique<Blas>();
  return *blas;
}

Dnn *Libraries::openDnn() {
  if (!dnn)
    dnn = Dnn::open();
  return dnn->get();
}

} // namespace mtc::runtime::cuda
