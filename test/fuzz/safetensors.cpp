// Reads safetensors files as data and as initial weights.
#include "test/fuzz/data_run.h"
#include "test/fuzz/written_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mtc::fuzz::evaluateOn(MTC_F32, ".safetensors", data, size);
  const std::string weights = mtc::fuzz::Folder::get().write("w.safetensors", data, size);
  mtc::fuzz::runSample(MTC_F32, {"--weights", weights, "--memory-report", "/dev/null", "--quiet"});
  return 0;
}
