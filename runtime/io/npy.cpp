#include "runtime/io/npy.h"

#include "runtime/support/failure.h"
#include "support/files/npy.h"

namespace mtc::runtime {

ArrayOnDisk openNpy(const std::string &path) {
  ArrayOnDisk array;
  array.file = std::make_shared<InputFile>(path);
  std::string problem;
  std::optional<files::NpyHeader> header = files::readNpyHeader(
      array.file->size(),
      [&](int64_t offset, void *to, int64_t bytes) { array.file->read(offset, to, bytes); },
      problem);
  if (!header)
    userError(path, ": ", problem);
  array.type = header->type;
  array.dims = std::move(header->shape);
  array.offset = header->dataOffset;
  return array;
}

} // namespace mtc::runtime
