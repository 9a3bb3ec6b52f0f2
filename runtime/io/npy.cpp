#include "runtime/io/npy.h"

#include "runtime/support/failure.h"
#include "support/files/npy.h"

#include <utility>

namespace mtc::runtime {

ArrayOnDisk openNpy(const std::string &path) {
  auto file = std::make_shared<InputFile>(path);
  const int64_t bytes = file->size();
  return openNpy(std::move(file), 0, bytes, path);
}

ArrayOnDisk openNpy(std::shared_ptr<InputFile> file, int64_t offset, int64_t bytes,
                    const std::string &name) {
  std::string problem;
  std::optional<files::NpyHeader> header = files::readNpyHeader(
      bytes, [&](int64_t at, void *to, int64_t count) { file->read(offset + at, to, count); },
      problem);
  if (!header)
    userError(name, ": ", problem);
  ArrayOnDisk array;
  array.file = std::move(file);
  array.type = header->type;
  array.dims = std::move(header->shape);
  array.offset = offset + header->dataOffset;
  return array;
}

} // namespace mtc::runtime
