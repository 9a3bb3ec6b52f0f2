// Selects the decoder of an image. Only this file refers to the decoders, so that programs without
// images contain neither of them.
#include "runtime/data/images/image_file.h"
#include "runtime/support/failure.h"

using namespace mtc::runtime;

void mtc_decode_image(std::string_view content, PixelImage &image) {
  if (content.starts_with("\xff\xd8"))
    return decodeJpeg(content, image);
  if (content.starts_with("\x89PNG\r\n\x1a\n"))
    return decodePng(content, image);
  userError(content.empty() ? "is empty" : "is neither JPEG nor PNG",
            "; python -m mtc.data converts other formats");
}
