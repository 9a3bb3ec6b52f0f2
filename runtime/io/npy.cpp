// The header of `.npy` files: a Python dictionary literal with three known keys.
#include "runtime/io/npy.h"

#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace mtc::runtime {
namespace {

/// numpy also rejects longer headers by default.
constexpr int64_t longestHeader = 1 << 16;

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortranOrder;
  std::optional<std::vector<int64_t>> shape;
};

/// Parses the literal. Every method returns false if the text does not match.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  bool parse(Header &header) {
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
  bool value(const std::string &key, Header &header) {
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

MtcType typeOf(const std::string &path, const std::string &descr) {
  static constexpr struct {
    std::string_view code;
    MtcType type;
  } codes[] = {{"f8", MTC_F64}, {"f4", MTC_F32}, {"f2", MTC_F16}, {"i8", MTC_I64},
               {"i4", MTC_I32}, {"i2", MTC_I16}, {"i1", MTC_I8},  {"u8", MTC_U64},
               {"u4", MTC_U32}, {"u2", MTC_U16}, {"u1", MTC_U8},  {"b1", MTC_BOOL}};
  if (descr == "|O" || descr == "O")
    userError(
        path,
        ": holds Python objects (dtype object), which are never loaded; save an array of numbers");
  if (descr == "[...]")
    userError(path, ": holds records (a structured dtype); save one file for each field");
  std::string_view code = descr;
  if (!code.empty() && std::string_view("<|=>").find(code.front()) != std::string_view::npos)
    code.remove_prefix(1);
  for (const auto &entry : codes) {
    if (entry.code != code)
      continue;
    if (descr.front() == '>' && code.back() != '1')
      userError(path, ": is big-endian (dtype ", descr, "); save it with array.astype('<", code,
                "')");
    return entry.type;
  }
  userError(
      path, ": dtype '", descr,
      "' is not supported; save it as one of float64, float32, float16, bool or an integer type");
}

} // namespace

ArrayOnDisk openNpy(const std::string &path) {
  ArrayOnDisk array;
  array.file = std::make_shared<InputFile>(path);
  unsigned char start[12] = {};
  if (array.file->size() < 10)
    userError(path, ": is not a .npy file: it has only ", array.file->size(), " bytes");
  array.file->read(0, start, 10);
  if (std::string_view(reinterpret_cast<char *>(start), 6) != "\x93NUMPY")
    userError(path, ": is not a .npy file: it does not start with \\x93NUMPY");
  if (start[6] < 1 || start[6] > 3)
    userError(path, ": .npy format version ", int{start[6]}, ".", int{start[7]},
              " is not known; 1 to 3 are");
  int64_t prefix = 10, length = start[8] | start[9] << 8;
  if (start[6] >= 2) {
    prefix = 12;
    if (array.file->size() < prefix)
      userError(path, ": ends inside its header");
    array.file->read(10, start + 10, 2);
    length |= static_cast<int64_t>(start[10]) << 16 | static_cast<int64_t>(start[11]) << 24;
  }
  if (length > longestHeader || prefix + length > array.file->size())
    userError(path, ": its header claims ", length, " bytes; the file has ", array.file->size(),
              " and ", longestHeader, " are allowed");
  std::string text(static_cast<size_t>(length), '\0');
  array.file->read(prefix, text.data(), length);

  Header header;
  if (!HeaderParser(text).parse(header))
    userError(path, ": its header is not that of an array: ", text.substr(0, 200));
  array.type = typeOf(path, *header.descr);
  array.dims = *header.shape;
  if (*header.fortranOrder && array.dims.size() > 1)
    userError(path,
              ": is in Fortran order; save it with np.save(file, np.ascontiguousarray(array))");
  array.offset = prefix + length;
  std::optional<int64_t> count = elementCount(array.dims, typeBytes(array.type));
  int64_t available = array.file->size() - array.offset;
  if (!count || *count > available / typeBytes(array.type))
    userError(path, ": its header promises shape ", shapeText(array.dims), " of ",
              typeName(array.type), ", but only ", available,
              " bytes follow; the file is damaged or incomplete");
  return array;
}

} // namespace mtc::runtime
