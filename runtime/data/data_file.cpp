// Opens data files by their extension.
#include "runtime/data/data_file.h"

#include "runtime/abi/images.h"
#include "runtime/data/file_list.h"
#include "runtime/data/images/image_file.h"
#include "runtime/data/token_stream.h"
#include "runtime/io/memory_file.h"
#include "runtime/io/npy.h"
#include "runtime/io/npz.h"
#include "runtime/io/safetensors.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/process.h"
#include "support/terminal/suggestions.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace mtc::runtime {
namespace {

ArrayOnDisk openSafetensor(const MtcInput &input, const FileChoice &name) {
  SafetensorsFile file(name.path);
  if (!name.choice.empty()) {
    if (const ArrayOnDisk *found = file.find(name.choice))
      return *found;
  } else if (file.tensors().size() == 1) {
    return file.tensors().begin()->second;
  } else if (const ArrayOnDisk *found = file.find(input.tensor.name)) {
    return *found;
  }
  std::vector<std::string> names;
  for (const auto &[tensor, array] : file.tensors())
    names.push_back(tensor);
  const std::string held = terminal::listNames(names);
  if (name.choice.empty())
    userError(name.path, ": holds several tensors (", held, "); choose one with ", name.path,
              ":TENSOR");
  userError(name.path, ": has no tensor '", name.choice, "'; it holds ", held);
}

TokenStream openStream(const MtcInput &input, const FileChoice &name, const std::string &flag) {
  const std::optional<MtcType> type = typeOfName(name.choice);
  if (!name.choice.empty() && !(type && isInteger(*type)))
    userError(name.path, ":", name.choice,
              ": expected u8, u16, u32, u64, i8, i16, i32 or i64 after the colon");
  return openTokens(name.path, type, input, flag);
}

/// Returns the offsets and the values of a file with ragged rows; nullopt if it has none.
std::optional<std::pair<ArrayOnDisk, ArrayOnDisk>> openRagged(const FileChoice &name) {
  if (dataExtension(name.path) != ".safetensors" || !name.choice.empty())
    return std::nullopt;
  const SafetensorsFile file(name.path);
  const ArrayOnDisk *offsets = file.find("offsets"), *values = file.find("values");
  if (!offsets || !values || file.tensors().size() != 2)
    return std::nullopt;
  return std::pair(*offsets, *values);
}

/// Opens a file that is not a token stream.
ArrayOnDisk openArray(const MtcInput &input, const FileChoice &name) {
  const std::string extension = dataExtension(name.path);
  if (extension == ".npy" && name.choice.empty())
    return openNpy(name.path);
  if (extension == ".npz")
    return openNpz(name.path, name.choice, input.tensor.name);
  if (extension == ".safetensors")
    return openSafetensor(input, name);
  userError(name.path, name.choice.empty() ? "" : ":" + name.choice,
            ": is no known data file; .npy, .npz (FILE:ARRAY), .safetensors (FILE:TENSOR) and "
            "token .bin (FILE:TYPE) files are. python -m mtc.data converts other formats");
}

/// Throws a user error if a file cannot follow the first one in a concatenation.
void checkPart(const ArrayOnDisk &first, const ArrayOnDisk &part) {
  const std::string &path = part.file->path(), &firstPath = first.file->path();
  if (part.type != first.type)
    userError(path, ": holds ", typeName(part.type), ", but ", firstPath, " holds ",
              typeName(first.type), "; the files of one input must have one element type");
  auto isConcatenable = [&] {
    return !first.dims.empty() && part.dims.size() == first.dims.size() &&
           std::equal(part.dims.begin() + 1, part.dims.end(), first.dims.begin() + 1);
  };
  if (!isConcatenable())
    userError(path, ": has shape ", shapeText(part.dims), ", but ", firstPath, " has ",
              shapeText(first.dims), "; the files of one input may differ only in the first axis");
}

} // namespace

std::vector<int64_t> DataFile::dims() const {
  if (images)
    return {images->count()};
  std::vector<int64_t> dims = parts.front().dims;
  for (size_t i = 1; i < parts.size(); ++i)
    if (__builtin_add_overflow(dims[0], parts[i].dims[0], &dims[0]))
      userError(parts[i].file->path(), ": has shape ", shapeText(parts[i].dims),
                "; the samples of all files exceed 64 bits");
  return dims;
}

DataFile labelsOf(const ImageFolder &images) {
  const std::vector<int32_t> labels = images.labels();
  return {
      {{openMemory("labels of " + images.path(), labels.data(), labels.size() * sizeof(int32_t)),
        0,
        MTC_I32,
        {images.count()},
        nullptr}}};
}

bool acceptsImages(const MtcInput &input) {
  // The linker has added the decoders if an input accepts images.
  return !input.is_whole && abi::isBatchOfImages({input.tensor.dims, input.tensor.rank}) &&
         mtc_decode_image;
}

DataFile openDataFile(const MtcInput &input, const std::string &value, const std::string &flag,
                      const std::vector<std::string> &classes) {
  constexpr size_t manyFiles = 128;
  if (acceptsImages(input) && isImageFolder(value)) {
    DataFile file;
    file.images = std::make_shared<ImageFolder>(value, classes);
    return file;
  }
  const std::vector<FileChoice> files = listDataFiles(value);
  if (files.size() > manyFiles)
    raiseOpenFileLimit();
  DataFile file;
  file.isStream = dataExtension(files.front().path) == ".bin";
  for (const FileChoice &name : files) {
    const bool isStream = dataExtension(name.path) == ".bin";
    if (isStream != file.isStream)
      userError(name.path, ": ", isStream ? "is" : "is not", " a token file, unlike ",
                files.front().path, "; the files of one input must be of one kind");
    if (isStream) {
      TokenStream stream = openStream(input, name, flag);
      file.isTypeAssumed |= stream.isTypeAssumed;
      file.parts.push_back(std::move(stream.tokens));
    } else if (auto ragged = openRagged(name)) {
      file.offsets.push_back(std::move(ragged->first));
      file.parts.push_back(std::move(ragged->second));
    } else {
      file.parts.push_back(openArray(input, name));
    }
    if (!file.offsets.empty() && file.offsets.size() != file.parts.size())
      userError(name.path, ": has rows of one length, unlike ", files.front().path,
                "; the files of one input must be of one kind");
    if (file.parts.size() > 1)
      checkPart(file.parts.front(), file.parts.back());
  }
  return file;
}

} // namespace mtc::runtime
