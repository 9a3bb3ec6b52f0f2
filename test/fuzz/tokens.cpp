// Reads files of token ids.
#include "test/fuzz/data_run.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mtc::fuzz::evaluateOn(MTC_I32, ".bin", data, size);
  return 0;
}
