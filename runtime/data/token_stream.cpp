// Headers of token files, and detection of the token type without a header.
#include "runtime/data/token_stream.h"

#include "runtime/data/value_range.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/integers.h"

#include <algorithm>
#include <vector>

namespace mtc::runtime {
namespace {

constexpr int64_t headerBytes = 256 * 4;
constexpr int64_t offsetOfVersion = 1, offsetOfCount = 2, offsetOfItemSize = 3;

/// A header, identified by its first word. Token size 0: another word of the header contains it.
struct HeaderKind {
  int32_t magic, version;
  int64_t itemBytes;
};
constexpr HeaderKind headerKinds[] = {{20240520, 1, 2}, {20240801, 7, 4}, {278895051, 1, 0}};

struct Header {
  int64_t itemBytes, count;
};

/// Returns nullopt if the file does not start with a known magic number.
std::optional<Header> readHeader(const InputFile &file) {
  if (file.size() < headerBytes)
    return std::nullopt;
  int32_t words[4];
  file.read(0, words, sizeof words);
  auto kind = std::find_if(std::begin(headerKinds), std::end(headerKinds),
                           [&](const HeaderKind &each) { return each.magic == words[0]; });
  if (kind == std::end(headerKinds))
    return std::nullopt;
  if (words[offsetOfVersion] != kind->version)
    userError(file.path(), ": its header (magic number ", kind->magic, ") has version ",
              words[offsetOfVersion], "; version ", kind->version, " is known");
  Header header = {kind->itemBytes ? kind->itemBytes : words[offsetOfItemSize],
                   words[offsetOfCount]};
  if (header.itemBytes != 2 && header.itemBytes != 4)
    userError(file.path(), ": its header gives tokens of ", header.itemBytes,
              " bytes; 2 or 4 are expected");
  if (header.count < 0)
    userError(file.path(), ": its header announces ", header.count,
              " tokens; the file is damaged, or holds more than a count of 32 bits can say");
  return header;
}

/// Returns whether the first MiB, read as tokens of type `Token`, contains only values that the
/// input accepts. If the program does not restrict them, ids up to the size of the largest
/// vocabularies are accepted.
template <typename Token> bool readsAs(const InputFile &file, const MtcInput &input) {
  constexpr int64_t largestVocabulary = 1 << 18, maxBytes = 1 << 20;
  constexpr auto tokenBytes = static_cast<int64_t>(sizeof(Token));
  if (file.size() == 0 || file.size() % tokenBytes)
    return false;
  std::vector<char> bytes(static_cast<size_t>(std::min(file.size(), maxBytes)));
  file.read(0, bytes.data(), static_cast<int64_t>(bytes.size()));
  for (int64_t i = 0; i < static_cast<int64_t>(bytes.size()) / tokenBytes; ++i) {
    const auto token = static_cast<int64_t>(elementAt<Token>(bytes.data(), i));
    const bool fits =
        hasRange(input) ? takesValue(input, token) : token >= 0 && token < largestVocabulary;
    if (!fits)
      return false;
  }
  return true;
}

/// Returns the token type if neither a header nor the user specifies it.
MtcType assumedType(const InputFile &file, const MtcInput &input, const std::string &flag) {
  const bool is32 = readsAs<int32_t>(file, input), is64 = readsAs<int64_t>(file, input);
  const bool is16 = readsAs<uint16_t>(file, input);
  const std::string given = text(flag, " ", input.tensor.name, "=", file.path());
  if (is16 && (is32 || is64))
    userError(file.path(), ": has no header, and its bytes may be tokens of 16 bits or of ",
              is32 ? "32" : "64", is32 && is64 ? " or 64" : "", ": either way they are ids that '",
              input.tensor.name, "' takes. Say which: ", given, ":u16", is32 ? ", :u32 (:i32)" : "",
              is64 ? ", :i64" : "");
  if (is32 || is64)
    userError(file.path(), ": has no header, and its bytes are ids that '", input.tensor.name,
              "' takes as tokens of ", is32 ? "32" : "64", is32 && is64 ? " or 64" : "",
              " bits, but not of 16. Say which: ", given, is32 ? ":u32 (:i32)" : ":i64",
              is32 && is64 ? ", :i64" : "");
  return MTC_U16;
}

} // namespace

TokenStream openTokens(const std::string &path, std::optional<MtcType> type, const MtcInput &input,
                       const std::string &flag) {
  TokenStream stream;
  ArrayOnDisk &array = stream.tokens;
  array.file = std::make_shared<InputFile>(path);
  std::optional<Header> header = readHeader(*array.file);
  if (header) {
    array.offset = headerBytes;
    if (type && typeBytes(*type) != header->itemBytes)
      userError(path, ": its header gives tokens of ", header->itemBytes, " bytes, not ",
                typeName(*type), "; leave :", typeName(*type), " out");
  }
  stream.isTypeAssumed = !header && !type;
  array.type = type     ? *type
               : header ? (header->itemBytes == 2 ? MTC_U16 : MTC_U32)
                        : assumedType(*array.file, input, flag);
  const int64_t bytes = array.file->size() - array.offset, itemBytes = typeBytes(array.type);
  if (bytes % itemBytes)
    userError(path, ": holds ", bytes, " bytes, expected a multiple of the token size, ", itemBytes,
              " bytes", stream.isTypeAssumed ? " (u16); FILE.bin:TYPE sets the token type" : "");
  array.dims = {bytes / itemBytes};
  if (header && header->count != array.dims[0])
    userError(path, ": its header announces ", header->count, " tokens, but ", array.dims[0],
              " follow");
  return stream;
}

} // namespace mtc::runtime
