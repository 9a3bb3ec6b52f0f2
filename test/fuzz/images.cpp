// JPEG and PNG files.
#include "runtime/data/images/image_file.h"
#include "runtime/support/failure.h"

using namespace mtc::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  PixelImage image;
  try {
    mtc_decode_image({reinterpret_cast<const char *>(data), size}, image);
  } catch (const Failure &failure) {
    if (failure.exitCode() != exitUserInput)
      throw;
  }
  return 0;
}
