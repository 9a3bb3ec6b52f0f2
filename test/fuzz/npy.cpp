// Reads .npy files as data: floats, and integers that are converted to wider integers.
#include "test/fuzz/data_run.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (MtcType type : {MTC_F32, MTC_I32})
    mtc::fuzz::evaluateOn(type, ".npy", data, size);
  return 0;
}
