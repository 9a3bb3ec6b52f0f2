// The header of `.npy` files: a Python dictionary literal with three known keys.
#include "support/files/npy.h"

#include <charconv>
#include <sstream>
#include <string_view>

namespace mtc::files {
namespace {

/// numpy also rejects longer headers by default.
constexpr int64_t longestHeader = 1 << 16;

/// The values of the dictionary.
struct Dictionary {
  std::optional<std::string> descr;
  std::optional<bool> fortranOrder;
  std::optional<std::vector<int64_t>> shape;
};

/// Parses the literal. Every method returns false if the text does not match.
class DictionaryParser {
public:
  explicit DictionaryParser(std::string_view text) : rest(text) {}

  bool parse(Dictionary &header) {
    if (!take('{'))
      return false;
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':') || !value(key, header))
        return false;
      if (!take(',') && !peek('}'))
        return false;
    }
    skipSpace();
    return rest.empty() && header.descr && header.fortranOrder && header.shape;
  }

private:
  bool value(const std::string &key, Dictionary &header) {
    if (key == "descr" && !header.descr) {
      // A list of fields denotes a structured type.
      if (peek('['))
        return (header.descr = "[...]", skipList());
      return string(header.descr.emplace());
    }
    if (key == "fortran_order" && !header.fortranOrder)
      return boolean(header.fortranOrder.emplace());
    if (key == "shape" && !header.shape)
      return tuple(header.shape.emplace());
    return false;
  }

  void skipSpace() {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\n' || rest.front() == '\t'))
      rest.remove_prefix(1);
  }
  bool peek(char c) {
    skipSpace();
    return !rest.empty() && rest.front() == c;
  }
  bool take(char c) {
    bool found = peek(c);
    if (found)
      rest.remove_prefix(1);
    return found;
  }
  bool word(std::string_view expected) {
    skipSpace();
    if (rest.substr(0, expected.size()) != expected)
      return false;
    rest.remove_prefix(expected.size());
    return true;
  }
  bool string(std::string &result) {
    char quote = peek('"') ? '"' : '\'';
    if (!take(quote))
      return false;
    size_t length = rest.find(quote);
    if (length == std::string_view::npos)
      return false;
    result = rest.substr(0, length);
    rest.remove_prefix(length + 1);
    return result.find('\\') == std::string::npos;
  }
  bool boolean(bool &result) {
    result = word("True");
    return result || word("False");
  }
  bool tuple(std::vector<int64_t> &result) {
    if (!take('('))
      return false;
    while (!take(')')) {
      skipSpace();
      int64_t number = 0;
      auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
      if (error != std::errc() || number < 0 || result.size() >= 64)
        return false;
      rest.remove_prefix(static_cast<size_t>(end - rest.data()));
      if (!rest.empty() && rest.front() == 'L') // Python 2 wrote long integers with this suffix.
        rest.remove_prefix(1);
      result.push_back(number);
      if (!take(',') && !peek(')'))
        return false;
    }
    return true;
  }
  bool skipList() {
    int depth = 0;
    for (size_t i = 0; i < rest.size(); ++i) {
      depth += rest[i] == '[' ? 1 : rest[i] == ']' ? -1 : 0;
      if (depth == 0) {
        rest.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }

  std::string_view rest;
};

/// Sets `problem` to the concatenation of the parts.
template <typename... Parts> std::nullopt_t fail(std::string &problem, const Parts &...parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  problem = stream.str();
  return std::nullopt;
}

struct ElementType {
  std::string_view code;
  MtcType type;
  int64_t bytes;
};

constexpr ElementType elementTypes[] = {
    {"f8", MTC_F64, 8}, {"f4", MTC_F32, 4}, {"f2", MTC_F16, 2}, {"i8", MTC_I64, 8},
    {"i4", MTC_I32, 4}, {"i2", MTC_I16, 2}, {"i1", MTC_I8, 1},  {"u8", MTC_U64, 8},
    {"u4", MTC_U32, 4}, {"u2", MTC_U16, 2}, {"u1", MTC_U8, 1},  {"b1", MTC_BOOL, 1}};

std::optional<ElementType> typeOf(const std::string &descr, std::string &problem) {
  if (descr == "|O" || descr == "O")
    return fail(
        problem,
        "holds Python objects (dtype object), which are never loaded; save an array of numbers");
  if (descr == "[...]")
    return fail(problem, "holds records (a structured dtype); save one file for each field");
  std::string_view code = descr;
  if (!code.empty() && std::string_view("<|=>").find(code.front()) != std::string_view::npos)
    code.remove_prefix(1);
  for (const ElementType &entry : elementTypes) {
    if (entry.code != code)
      continue;
    if (descr.front() == '>' && entry.bytes > 1)
      return fail(problem, "is big-endian (dtype ", descr, "); save it with array.astype('<", code,
                  "')");
    return entry;
  }
  return fail(problem, "has dtype '", descr,
              "', which is not supported; save it as one of float64, float32, float16, bool or an "
              "integer type");
}

/// Returns the size of a shape; nullopt if it is negative or overflows.
std::optional<int64_t> bytesOf(const std::vector<int64_t> &shape, int64_t elementBytes) {
  int64_t bytes = elementBytes;
  bool isEmpty = false;
  for (int64_t extent : shape) {
    isEmpty |= extent == 0;
    if (extent < 0 || (extent > 0 && __builtin_mul_overflow(bytes, extent, &bytes)))
      return std::nullopt;
  }
  return isEmpty ? 0 : bytes;
}

std::string textOf(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

/// The dictionary's text, and the offset of the data after it.
struct DictionaryText {
  std::string text;
  int64_t end;
};

std::optional<DictionaryText> readDictionary(int64_t fileBytes, const ReadBytes &read,
                                             std::string &problem) {
  constexpr std::string_view magic = "\x93NUMPY";
  unsigned char start[12] = {};
  if (fileBytes < 10)
    return fail(problem, "is not a .npy file: it has only ", fileBytes, " bytes");
  read(0, start, 10);
  if (std::string_view(reinterpret_cast<char *>(start), magic.size()) != magic)
    return fail(problem, "is not a .npy file: it does not start with \\x93NUMPY");
  if (start[6] < 1 || start[6] > 3)
    return fail(problem, "has .npy format version ", int{start[6]}, ".", int{start[7]},
                ", expected 1 to 3");
  int64_t prefix = 10, length = start[8] | start[9] << 8;
  if (start[6] >= 2) {
    prefix = 12;
    if (fileBytes < prefix)
      return fail(problem, "ends inside its header");
    read(10, start + 10, 2);
    length |= static_cast<int64_t>(start[10]) << 16 | static_cast<int64_t>(start[11]) << 24;
  }
  if (length > longestHeader || prefix + length > fileBytes)
    return fail(problem, "claims a header of ", length, " bytes; the file has ", fileBytes, " and ",
                longestHeader, " are allowed");
  std::string text(static_cast<size_t>(length), '\0');
  read(prefix, text.data(), length);
  return DictionaryText{std::move(text), prefix + length};
}

} // namespace

std::optional<NpyHeader> readNpyHeader(int64_t fileBytes, const ReadBytes &read,
                                       std::string &problem) {
  const std::optional<DictionaryText> found = readDictionary(fileBytes, read, problem);
  if (!found)
    return std::nullopt;
  Dictionary dictionary;
  if (!DictionaryParser(found->text).parse(dictionary))
    return fail(problem, "has an invalid .npy header: ", found->text.substr(0, 200));
  const std::optional<ElementType> type = typeOf(*dictionary.descr, problem);
  if (!type)
    return std::nullopt;
  const std::vector<int64_t> &shape = *dictionary.shape;
  if (*dictionary.fortranOrder && shape.size() > 1)
    return fail(problem,
                "is in Fortran order; save it with np.save(file, np.ascontiguousarray(array))");
  const std::optional<int64_t> bytes = bytesOf(shape, type->bytes);
  const int64_t available = fileBytes - found->end;
  if (!bytes || *bytes > available)
    return fail(problem, "has shape ", textOf(shape), " of '", *dictionary.descr,
                "' in its header, but only ", available,
                " bytes follow; the file is damaged or incomplete");
  return NpyHeader{type->type, shape, found->end, *bytes};
}

} // namespace mtc::files
