// Reads only the beginning and the metadata of files, which may be large.
#include "support/files/written_by_mtc.h"

#include "runtime/abi/file_marks.h"
#include "runtime/abi/program.h"
#include "support/files/safetensors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace mtc::files {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Matches the comment syntaxes of texts that mtc writes: MLIR, LLVM IR, TOML, HTML.
bool isText(std::string_view start) {
  const std::string_view line = start.substr(0, start.find('\n'));
  constexpr std::array<std::string_view, 4> comments = {"//", ";", "#", "<!--"};
  return std::any_of(comments.begin(), comments.end(), [&](std::string_view comment) {
    return line.starts_with(comment) && line.substr(comment.size()) == MTC_TEXT_MARK;
  });
}

/// Matches JSON whose first object starts with the mark; a trace is an array of objects.
bool isReport(std::string_view start) {
  std::string compact(start.substr(0, 64));
  std::erase_if(compact, [](char c) { return c == ' ' || c == '\n'; });
  const std::string_view mark = "{\"" MTC_WRITER_KEY "\":\"" MTC_WRITER "\"";
  return compact.starts_with(mark) ||
         (compact.starts_with('[') && compact.substr(1).starts_with(mark));
}

/// Matches a line of --metrics, which is about a step, a validation or an evaluation.
bool isMetrics(std::string_view start) {
  const OrderedJson line = OrderedJson::parse(start.substr(0, start.find('\n')), nullptr, false);
  if (!line.is_object())
    return false;
  std::string keys;
  for (const auto &entry : line.items())
    keys += entry.key() + ",";
  if (keys.starts_with("step,loss,lr,") && keys.find(",step_seconds,") != std::string::npos)
    return true;
  if (keys.starts_with("step,validation_loss,"))
    return true;
  if (keys.starts_with("step,"))
    keys.erase(0, 5);
  return keys.starts_with("loss,") && keys.ends_with(",samples,");
}

bool isSafetensors(std::istream &file, std::string_view start, uint64_t fileBytes) {
  uint64_t length = 0;
  if (start.size() < 9 || start[8] != '{')
    return false;
  start.copy(reinterpret_cast<char *>(&length), sizeof length);
  if (length > fileBytes - 8 || length > uint64_t{maxSafetensorsHeaderBytes})
    return false;
  std::string header(length, '\0');
  if (!file.seekg(8).read(header.data(), static_cast<std::streamsize>(length)))
    return false;
  const OrderedJson json = OrderedJson::parse(header, nullptr, false);
  if (!json.is_object())
    return false;
  const OrderedJson metadata = json.value("__metadata__", OrderedJson());
  return metadata.is_object() && (metadata.contains(MTC_WEIGHTS_DIGEST) ||
                                  metadata.value(MTC_WRITER_KEY, OrderedJson()) == MTC_WRITER);
}

/// Reads a protobuf varint.
std::optional<uint64_t> readVarint(std::istream &file) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const int byte = file.get();
    if (byte < 0)
      return std::nullopt;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return value;
  }
  return std::nullopt;
}

/// Returns whether an ONNX ModelProto contains the mark in its metadata. Skips all other fields.
bool isModel(std::istream &file, uint64_t fileBytes) {
  constexpr uint64_t metadataProps = 14;
  std::string entry = "\x0a";
  entry += static_cast<char>(sizeof(MTC_WRITER_KEY) - 1);
  entry += MTC_WRITER_KEY "\x12";
  entry += static_cast<char>(sizeof(MTC_WRITER) - 1);
  entry += MTC_WRITER;
  file.seekg(0);
  while (auto tag = readVarint(file)) {
    constexpr int varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5;
    uint64_t skipped = 0;
    switch (*tag & 7) {
    case varint:
      if (!readVarint(file))
        return false;
      break;
    case fixed64:
      skipped = 8;
      break;
    case fixed32:
      skipped = 4;
      break;
    case delimited:
      if (auto length = readVarint(file); length && *length <= fileBytes)
        skipped = *length;
      else
        return false;
      break;
    default:
      return false;
    }
    if (*tag == (metadataProps << 3 | delimited) && skipped == entry.size()) {
      std::string found(entry.size(), '\0');
      if (file.read(found.data(), static_cast<std::streamsize>(found.size())) && found == entry)
        return true;
    } else if (!file.seekg(static_cast<std::streamoff>(skipped), std::ios::cur)) {
      return false;
    }
  }
  return false;
}

} // namespace

bool isWrittenByMtc(const std::string &path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || file.tellg() < 0)
    return false;
  const auto bytes = static_cast<uint64_t>(file.tellg());
  std::string start(std::min<uint64_t>(bytes, 4096), '\0');
  if (!file.seekg(0).read(start.data(), static_cast<std::streamsize>(start.size())))
    return false;
  return isText(start) || isReport(start) || isMetrics(start) ||
         isSafetensors(file, start, bytes) || isModel(file, bytes);
}

} // namespace mtc::files
