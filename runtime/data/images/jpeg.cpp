// JPEG by libjpeg-turbo.
#include "runtime/data/images/image_file.h"
#include "runtime/support/failure.h"

#include <array>
#include <csetjmp>
#include <cstdio>
#include <jpeglib.h>

#include <jerror.h>

namespace mtc::runtime {
namespace {

/// The state of an image. libjpeg reports errors by a call that must not return: functions that
/// call libjpeg have no objects with destructors, because longjmp leaves them.
class JpegDecoder {
public:
  explicit JpegDecoder(std::string_view content) : content(content) {
    state.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = leave;
    errors.base.emit_message = check;
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&state); }
  JpegDecoder(const JpegDecoder &) = delete;
  JpegDecoder &operator=(const JpegDecoder &) = delete;

  /// Reads the header. Returns whether it is valid.
  bool begin() {
    if (setjmp(errors.caller))
      return false;
    jpeg_create_decompress(&state);
    jpeg_mem_src(&state, reinterpret_cast<const unsigned char *>(content.data()), content.size());
    jpeg_read_header(&state, TRUE);
    isCmyk = state.jpeg_color_space == JCS_CMYK || state.jpeg_color_space == JCS_YCCK;
    state.out_color_space = isCmyk ? JCS_CMYK : JCS_RGB;
    return true;
  }

  int64_t height() const { return state.image_height; }
  int64_t width() const { return state.image_width; }
  /// Returns the number of elements of `row`; 0 if rows are decoded in place.
  int64_t rowElements() const { return isCmyk ? width() * 4 : 0; }

  /// Decodes all pixels. Returns whether they are complete.
  bool decode(uint8_t *pixels, uint8_t *row) {
    if (setjmp(errors.caller))
      return false;
    jpeg_start_decompress(&state);
    while (state.output_scanline < state.output_height) {
      JSAMPROW to = isCmyk ? row : pixels;
      jpeg_read_scanlines(&state, &to, 1);
      if (isCmyk)
        convertCmyk(row, pixels);
      pixels += width() * PixelImage::channels;
    }
    return true;
  }

  std::string problem() const { return errors.message.data(); }

private:
  struct Errors {
    jpeg_error_mgr base; ///< the first member: libjpeg passes a pointer to it
    std::jmp_buf caller;
    std::array<char, JMSG_LENGTH_MAX> message;
  };

  [[noreturn]] static void leave(j_common_ptr state) {
    auto *errors = reinterpret_cast<Errors *>(state->err);
    state->err->format_message(state, errors->message.data());
    std::longjmp(errors->caller, 1);
  }
  /// Treats a file that ends early as an error. Other warnings, such as unknown bytes between
  /// segments, do not concern the pixels.
  static void check(j_common_ptr state, int level) {
    if (level < 0 && state->err->msg_code == JWRN_JPEG_EOF)
      leave(state);
  }

  /// Converts a row as Pillow does. Adobe's files, which are the usual ones, store inverted values.
  void convertCmyk(const uint8_t *from, uint8_t *to) const {
    for (int64_t x = 0; x < width(); ++x, from += 4, to += 3)
      for (int c = 0; c < 3; ++c) {
        const int product = from[c] * from[3] + 128;
        to[c] = static_cast<uint8_t>((product + (product >> 8)) >> 8);
      }
  }

  std::string_view content;
  jpeg_decompress_struct state{};
  Errors errors{};
  bool isCmyk = false;
};

} // namespace

void decodeJpeg(std::string_view content, PixelImage &image) {
  JpegDecoder decoder(content);
  if (!decoder.begin())
    userError(decoder.problem());
  uint8_t *pixels = image.reset(decoder.height(), decoder.width());
  GrowingBuffer<uint8_t> row;
  if (!decoder.decode(pixels, row.get(decoder.rowElements())))
    userError(decoder.problem());
}

} // namespace mtc::runtime
