#include "runtime/io/safetensors.h"

#include "runtime/abi/file_marks.h"
#include "runtime/abi/weights_file.h"
#include "runtime/io/json_object.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "support/files/safetensors.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {
namespace {

using Json = nlohmann::json;

struct Range {
  int64_t begin, end;
  const std::string *name;
};

/// Fills `array` from one entry of the header.
Range parseEntry(const std::string &path, const std::string &name, const Json &entry,
                 ArrayOnDisk &array) {
  auto bad = [&](const auto &...parts) { userError(path, ": tensor '", name, "': ", parts...); };
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
      !entry.contains("shape") || !entry["shape"].is_array() || !entry.contains("data_offsets") ||
      !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2)
    bad("its entry needs dtype, shape and two data_offsets");
  std::string typeText = entry["dtype"];
  auto type = files::typeOfSafetensorsName(typeText);
  if (!type)
    bad("type ", typeText, " is not supported");
  array.type = *type;
  auto natural = [&](const Json &number) -> int64_t {
    if (!number.is_number_unsigned() || number.get<uint64_t>() > INT64_MAX)
      bad(number.dump(), " is not a size");
    return static_cast<int64_t>(number.get<uint64_t>());
  };
  for (const Json &dim : entry["shape"])
    array.dims.push_back(natural(dim));
  Range range{natural(entry["data_offsets"][0]), natural(entry["data_offsets"][1]), &name};
  auto count = elementCount(array.dims, typeBytes(array.type));
  if (!count || range.end < range.begin ||
      *count * typeBytes(array.type) != range.end - range.begin)
    bad("bytes ", range.begin, " to ", range.end, " do not fit shape ", shapeText(array.dims),
        " of ", typeName(array.type));
  return range;
}

} // namespace

SafetensorsFile::SafetensorsFile(const std::string &path)
    : file(std::make_shared<InputFile>(path)) {
  if (file->size() < 8)
    userError(path, ": is not a safetensors file: it has only ", file->size(), " bytes");
  uint64_t length = 0;
  file->read(0, &length, 8);
  if (length > static_cast<uint64_t>(files::maxSafetensorsHeaderBytes) ||
      static_cast<int64_t>(length) > file->size() - 8)
    userError(path, ": its header claims ", length, " bytes; the file has ", file->size(), " and ",
              files::maxSafetensorsHeaderBytes,
              " are allowed; it is damaged or not a safetensors file");
  std::string text(length, '\0');
  file->read(8, text.data(), static_cast<int64_t>(length));
  const Json header = parseJsonObject(path + ": its header", text);

  const int64_t start = 8 + static_cast<int64_t>(length), dataBytes = file->size() - start;
  std::vector<Range> ranges;
  for (const auto &[name, entry] : header.items()) {
    if (name == "__metadata__") {
      for (const auto &[key, value] : entry.items())
        if (value.is_string())
          texts[key] = value;
      continue;
    }
    auto inserted = entries.emplace(name, ArrayOnDisk()).first;
    ArrayOnDisk &array = inserted->second;
    array.file = file;
    Range range = parseEntry(path, name, entry, array);
    array.offset = start + range.begin;
    range.name = &inserted->first;
    ranges.push_back(range);
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  int64_t end = 0;
  for (const Range &range : ranges) {
    if (range.begin != end)
      userError(path, ": tensor '", *range.name, "' starts at byte ", range.begin,
                " of the data, expected ", end, ": tensors ",
                range.begin < end ? "overlap" : "leave a hole");
    end = range.end;
  }
  if (end != dataBytes)
    userError(path, ": its tensors take ", end, " bytes, but the file has ", dataBytes,
              end > dataBytes ? "; it is incomplete" : "; the rest belongs to nothing");
  checkHeader(std::move(text));
  expectChecksums();
}

/// Verifies the digest in the header, if the compiler wrote one.
void SafetensorsFile::checkHeader(std::string text) const {
  const std::string digest = metadata(MTC_WEIGHTS_DIGEST);
  if (digest.size() != checksumDigits)
    return;
  const std::string start = runtime::text('"', MTC_WEIGHTS_DIGEST, "\":\"");
  if (const size_t at = text.find(start + digest); at != std::string::npos)
    std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(at + start.size()), digest.size(), '0');
  Checksum sum;
  sum.add(text.data(), static_cast<int64_t>(text.size()));
  if (checksumText(sum.value()) != digest)
    userError(path(), ": its header is damaged: its digest is ", checksumText(sum.value()),
              ", expected ", digest,
              "; restore the file, or compile the model again. A file whose ",
              "tensors were changed on purpose must not keep the metadata '", MTC_WEIGHTS_DIGEST,
              "' of the old ones");
}

void SafetensorsFile::expectChecksums() {
  for (auto &[name, array] : entries) {
    const std::string sum = metadata(MTC_WEIGHTS_CHECKSUM + name);
    if (sum.empty())
      continue;
    const std::optional<uint64_t> value = parseChecksum(sum);
    if (!value)
      userError(path(), ": tensor '", name, "': ", sum, " is not a checksum; ", checksumDigits,
                " hexadecimal digits are expected");
    array.checksum = std::make_shared<ExpectedChecksum>(
        runtime::text(path(), ": tensor '", name, "'"),
        "restore the file, or compile the model again", *value,
        *elementCount(array.dims, typeBytes(array.type)) * typeBytes(array.type));
  }
}

const ArrayOnDisk *SafetensorsFile::find(const std::string &name) const {
  auto found = entries.find(name);
  return found == entries.end() ? nullptr : &found->second;
}

std::string SafetensorsFile::metadata(const std::string &key) const {
  auto found = texts.find(key);
  return found == texts.end() ? "" : found->second;
}

SafetensorsWriter::SafetensorsWriter(const std::string &path,
                                     const std::vector<SafetensorsEntry> &entries,
                                     std::map<std::string, std::string> metadata)
    : file(path) {
  files::SafetensorsHeader header;
  header.metadata = std::move(metadata);
  header.metadata[MTC_WRITER_KEY] = MTC_WRITER;
  for (const SafetensorsEntry &entry : entries) {
    const int64_t elementBytes = typeBytes(entry.type);
    starts.push_back(header.add(entry.name, entry.type, entry.dims,
                                *elementCount(entry.dims, elementBytes) * elementBytes));
  }
  starts.push_back(header.dataBytes());
  const std::string start = files::SafetensorsHeader::startOfFile(header.text());
  file.append(start);
  for (int64_t &offset : starts)
    offset += static_cast<int64_t>(start.size());
}

void SafetensorsWriter::write(size_t index, int64_t offset, const void *data, int64_t bytes) {
  file.write(starts[index] + offset, data, bytes);
}

void SafetensorsWriter::read(size_t index, int64_t offset, void *to, int64_t bytes) {
  if (!written)
    written = std::make_unique<InputFile>(file.temporaryPath());
  written->read(starts[index] + offset, to, bytes);
}

const std::string &SafetensorsWriter::share() {
  file.reserve(fileBytes());
  return file.temporaryPath();
}

} // namespace mtc::runtime
