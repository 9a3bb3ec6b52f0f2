// PNG by libpng.
#include "runtime/data/images/image_file.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <new>
#include <png.h>
#include <vector>

namespace mtc::runtime {
namespace {

/// The state of an image. libpng reports errors by a call that must not return: functions that call
/// libpng have no objects with destructors, because longjmp leaves them.
class PngDecoder {
public:
  explicit PngDecoder(std::string_view content)
      : rest(content), state(png_create_read_struct(PNG_LIBPNG_VER_STRING, this, leave, ignore)),
        information(state ? png_create_info_struct(state) : nullptr) {
    if (!information)
      throw std::bad_alloc();
  }
  ~PngDecoder() { png_destroy_read_struct(&state, &information, nullptr); }
  PngDecoder(const PngDecoder &) = delete;
  PngDecoder &operator=(const PngDecoder &) = delete;

  /// Reads the header. Returns whether it is valid.
  bool begin() {
    if (setjmp(png_jmpbuf(state)))
      return false;
    png_set_read_fn(state, this, read);
    png_read_info(state, information);
    png_set_expand(state);
    png_set_strip_16(state);
    png_set_strip_alpha(state);
    png_set_gray_to_rgb(state);
    png_set_interlace_handling(state);
    png_read_update_info(state, information);
    return true;
  }

  int64_t height() const { return png_get_image_height(state, information); }
  int64_t width() const { return png_get_image_width(state, information); }

  /// Decodes all rows. Returns whether they are complete.
  bool decode(uint8_t **rows) {
    if (setjmp(png_jmpbuf(state)))
      return false;
    png_read_image(state, rows);
    return true;
  }

  const std::string &problem() const { return message; }

private:
  [[noreturn]] static void leave(png_structp state, const char *problem) {
    static_cast<PngDecoder *>(png_get_error_ptr(state))->message = problem;
    png_longjmp(state, 1);
  }
  static void ignore(png_structp /*state*/, const char * /*problem*/) {}
  static void read(png_structp state, uint8_t *to, size_t count) {
    std::string_view &rest = static_cast<PngDecoder *>(png_get_io_ptr(state))->rest;
    if (count > rest.size())
      png_error(state, "the file ends early");
    std::memcpy(to, rest.data(), count);
    rest.remove_prefix(count);
  }

  std::string_view rest;
  std::string message;
  png_structp state;
  png_infop information;
};

} // namespace

void decodePng(std::string_view content, PixelImage &image) {
  PngDecoder decoder(content);
  if (!decoder.begin())
    userError(decoder.problem());
  uint8_t *pixels = image.reset(decoder.height(), decoder.width());
  std::vector<uint8_t *> rows(static_cast<size_t>(decoder.height()));
  for (uint8_t *&row : rows) {
    row = pixels;
    pixels += decoder.width() * PixelImage::channels;
  }
  if (!decoder.decode(rows.data()))
    userError(decoder.problem());
}

} // namespace mtc::runtime
