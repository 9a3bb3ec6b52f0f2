// Mutates protobuf messages such that they remain parseable; mutations of bytes rarely do. The
// mutations need no schema (https://protobuf.dev/programming-guides/encoding).
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);

namespace {

using Random = std::mt19937;

enum WireType : uint8_t { Varint = 0, Fixed64 = 1, Delimited = 2, Fixed32 = 5 };

struct Field {
  uint64_t number = 0;
  WireType type = Varint;
  uint64_t value = 0;        ///< of Varint
  std::string bytes;         ///< of the others, unless they are a message
  std::vector<Field> fields; ///< of a message
};
using Message = std::vector<Field>;

/// Returns the fields and messages of a message, including itself.
struct Parts {
  std::vector<Message *> messages;
  std::vector<Field *> fields;

  explicit Parts(Message &message) { add(message); }
  void add(Message &message) {
    messages.push_back(&message);
    for (Field &field : message) {
      fields.push_back(&field);
      if (!field.fields.empty())
        add(field.fields);
    }
  }
};

} // namespace

/// The maximum depth of nested messages; deeper ones are treated as bytes.
static constexpr int deepest = 20;

static size_t choose(size_t count, Random &random) { return random() % count; }

//===- The wire format ------------------------------------------------------------------------===//

static std::optional<uint64_t> readVarint(std::string_view &bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80)
      return value;
  }
  return std::nullopt;
}

static void writeVarint(uint64_t value, std::string &bytes) {
  for (; value >= 0x80; value >>= 7)
    bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

/// Returns nothing if the bytes are not a message.
static std::optional<Message> parse(std::string_view bytes, int depth = 0) {
  Message message;
  while (!bytes.empty()) {
    std::optional<uint64_t> tag = readVarint(bytes);
    if (!tag || *tag >> 3 == 0)
      return std::nullopt;
    Field &field = message.emplace_back();
    field.number = *tag >> 3;
    field.type = static_cast<WireType>(*tag & 7);
    std::optional<uint64_t> size;
    if (field.type == Varint || field.type == Delimited)
      size = readVarint(bytes);
    else if (field.type == Fixed64 || field.type == Fixed32)
      size = field.type == Fixed64 ? 8 : 4;
    if (!size || (field.type != Varint && *size > bytes.size()))
      return std::nullopt;
    if (field.type == Varint) {
      field.value = *size;
      continue;
    }
    field.bytes = bytes.substr(0, *size);
    bytes.remove_prefix(*size);
    if (field.type == Delimited && depth < deepest)
      if (std::optional<Message> inner = parse(field.bytes, depth + 1))
        field.fields = std::move(*inner);
  }
  return message;
}

static std::string serialize(const Message &message) {
  std::string bytes;
  for (const Field &field : message) {
    writeVarint(field.number << 3 | field.type, bytes);
    if (field.type == Varint) {
      writeVarint(field.value, bytes);
      continue;
    }
    const std::string content = field.fields.empty() ? field.bytes : serialize(field.fields);
    if (field.type == Delimited)
      writeVarint(content.size(), bytes);
    bytes += content;
  }
  return bytes;
}

//===- Mutations ------------------------------------------------------------------------------===//

/// Returns a boundary value, or a neighbor of the current value.
static uint64_t mutateNumber(uint64_t value, Random &random) {
  static constexpr int64_t edges[] = {0,
                                      1,
                                      -1,
                                      2,
                                      3,
                                      8,
                                      255,
                                      65536,
                                      std::numeric_limits<int32_t>::max(),
                                      std::numeric_limits<int32_t>::min(),
                                      std::numeric_limits<int64_t>::max(),
                                      std::numeric_limits<int64_t>::min()};
  switch (choose(4, random)) {
  case 0:
    return static_cast<uint64_t>(edges[choose(std::size(edges), random)]);
  case 1:
    return value + 1;
  case 2:
    return value - 1;
  default:
    return choose(32, random);
  }
}

static void mutateBytes(std::string &bytes, size_t growth) {
  const size_t size = bytes.size();
  bytes.resize(size + growth);
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(bytes.data()), size, bytes.size()));
}

/// Changes the value of a field, often to that of another field with the same number or type.
static void mutateValue(Field &field, const Parts &parts, Random &random) {
  const Field other = *parts.fields[choose(parts.fields.size(), random)];
  if (other.type == field.type && (other.number == field.number || field.fields.empty())) {
    field.value = other.value;
    field.bytes = other.bytes;
    field.fields = other.fields;
  } else if (field.type == Varint) {
    field.value = mutateNumber(field.value, random);
  } else if (field.fields.empty()) {
    mutateBytes(field.bytes, field.type == Delimited ? 8 : 0);
  }
  if (field.type == Fixed64 || field.type == Fixed32)
    field.bytes.resize(field.type == Fixed64 ? 8 : 4);
}

static void mutate(Message &model, Random &random) {
  const Parts parts(model);
  Message &message = *parts.messages[choose(parts.messages.size(), random)];
  if (message.empty())
    return;
  const size_t index = choose(message.size(), random);
  switch (choose(8, random)) {
  case 0:
    message.erase(message.begin() + static_cast<ptrdiff_t>(index));
    break;
  case 1: {
    Field copy = *parts.fields[choose(parts.fields.size(), random)];
    message.insert(message.begin() + static_cast<ptrdiff_t>(index), std::move(copy));
    break;
  }
  case 2: {
    Field copy = message[index];
    message.insert(message.begin() + static_cast<ptrdiff_t>(index), std::move(copy));
    break;
  }
  case 3:
    std::swap(message[index], message[choose(message.size(), random)]);
    break;
  case 4:
    message[index].number = mutateNumber(message[index].number, random) % 32 + 1;
    break;
  default:
    mutateValue(message[index], parts, random);
  }
}

/// Applies one or more changes. With probability 1/8, they are changes of bytes, as if the input
/// were no message.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed) {
  Random random(seed);
  std::optional<Message> model = parse({reinterpret_cast<const char *>(data), size});
  if (!model || model->empty() || choose(8, random) == 0)
    return LLVMFuzzerMutate(data, size, limit);
  do
    mutate(*model, random);
  while (choose(2, random));
  const std::string bytes = serialize(*model);
  if (bytes.size() > limit)
    return LLVMFuzzerMutate(data, size, limit);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}
