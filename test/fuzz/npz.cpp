// .npz archives: stored and deflated arrays.
#include "test/fuzz/data_run.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mtc::fuzz::evaluateOn(MTC_F32, ".npz", data, size);
  return 0;
}
