// Headers of token files.
#include "runtime/token_stream.h"

#include "runtime/element_type.h"
#include "runtime/failure.h"

namespace mtc::runtime {

static constexpr int64_t headerBytes = 256 * 4;

ArrayOnDisk openTokens(const std::string &path) {
  ArrayOnDisk array;
  array.file = std::make_shared<InputFile>(path);
  array.type = MTC_U16;
  int32_t header[4] = {};
  int64_t announced = -1;
  if (array.file->size() >= headerBytes) {
    array.file->read(0, header, sizeof header);
    int32_t itemSize = header[0] == 20240520    ? 2
                       : header[0] == 20240801  ? 4
                       : header[0] == 278895051 ? header[3]
                                                : 0;
    if (header[0] == 278895051 && itemSize != 2 && itemSize != 4)
      userError(path, ": its header gives tokens of ", itemSize, " bytes; 2 or 4 are expected");
    if (itemSize) {
      array.offset = headerBytes;
      array.type = itemSize == 2 ? MTC_U16 : MTC_U32;
      announced = header[2];
    }
  }
  int64_t bytes = array.file->size() - array.offset, itemBytes = typeBytes(array.type);
  if (bytes % itemBytes)
    userError(path, ": its ", bytes, " bytes are no whole number of tokens of ", itemBytes,
              " bytes");
  array.dims = {bytes / itemBytes};
  if (announced >= 0 && announced != array.dims[0])
    userError(path, ": its header announces ", announced, " tokens, but ", array.dims[0],
              " follow");
  return array;
}

} // namespace mtc::runtime
