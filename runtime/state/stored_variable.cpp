// Joins and splits the halves of f32 in chunks.
#include "runtime/state/stored_variable.h"

#include "runtime/support/element_type.h"
#include "runtime/support/half_floats.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {
namespace {

/// Number of elements per chunk, a multiple of the chunks of Device::write.
constexpr int64_t pieceElements = 1 << 18;

/// Calls `use` on chunks [at, at + count) of [0, total).
template <typename Use> void inPieces(int64_t total, const Use &use) {
  for (int64_t at = 0; at < total; at += pieceElements)
    use(at, std::min(pieceElements, total - at));
}

template <typename Element>
void readInto(Device &device, ArenaAddress place, std::vector<Element> &to, int64_t count) {
  const auto size = static_cast<int64_t>(sizeof(Element));
  device.read(place, count * size, [&](const char *from, int64_t at, int64_t bytes) {
    std::memcpy(reinterpret_cast<char *>(to.data()) + at, from, static_cast<size_t>(bytes));
  });
}

template <typename Element>
void writeFrom(Device &device, ArenaAddress place, const std::vector<Element> &from,
               int64_t count) {
  const auto size = static_cast<int64_t>(sizeof(Element));
  device.write(place, count * size, [&](char *to, int64_t at, int64_t bytes) {
    std::memcpy(to, reinterpret_cast<const char *>(from.data()) + at, static_cast<size_t>(bytes));
  });
}

void join(const std::vector<uint16_t> &upper, const std::vector<int16_t> &lower,
          std::vector<uint32_t> &joined, int64_t count) {
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    joined[i] = (uint32_t{upper[i]} << 16) + static_cast<uint32_t>(int32_t{lower[i]});
}

/// The inverse of `join`.
void split(const std::vector<uint32_t> &whole, std::vector<uint16_t> &upper,
           std::vector<int16_t> &lower, int64_t count) {
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    upper[i] = static_cast<uint16_t>((whole[i] + 0x8000) >> 16);
    lower[i] = static_cast<int16_t>(static_cast<uint16_t>(whole[i]));
  }
}

} // namespace

StoredVariable::StoredVariable(const MtcProgram &program, uint32_t index)
    : variable(program.variables[index]) {
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (program.variables[i].role == MTC_LOW_HALF &&
        program.variables[i].of == static_cast<int32_t>(index))
      low = &program.variables[i];
}

int64_t StoredVariable::bytes() const {
  return low ? 2 * low->tensor.bytes : variable.tensor.bytes;
}

MtcTensor StoredVariable::tensor() const {
  MtcTensor whole = variable.tensor;
  whole.type = type();
  whole.bytes = bytes();
  return whole;
}

void StoredVariable::read(Device &device, const Device::Use &use) const {
  const MtcTensor &high = variable.tensor;
  if (!low)
    return device.read(addressOf(high), high.bytes, use);
  std::vector<uint32_t> joined(pieceElements);
  std::vector<uint16_t> upper(pieceElements);
  std::vector<int16_t> lower(pieceElements);
  inPieces(high.bytes / 2, [&](int64_t at, int64_t count) {
    readInto(device, addressOf(high) + 2 * at, upper, count);
    readInto(device, addressOf(low->tensor) + 2 * at, lower, count);
    join(upper, lower, joined, count);
    use(reinterpret_cast<const char *>(joined.data()), 4 * at, 4 * count);
  });
}

void StoredVariable::write(Device &device, const Device::Fill &fill) const {
  const MtcTensor &high = variable.tensor;
  if (!low)
    return device.write(addressOf(high), high.bytes, fill);
  std::vector<uint32_t> whole(pieceElements);
  std::vector<uint16_t> upper(pieceElements);
  std::vector<int16_t> lower(pieceElements);
  inPieces(high.bytes / 2, [&](int64_t at, int64_t count) {
    fill(reinterpret_cast<char *>(whole.data()), 4 * at, 4 * count);
    split(whole, upper, lower, count);
    writeFrom(device, addressOf(high) + 2 * at, upper, count);
    writeFrom(device, addressOf(low->tensor) + 2 * at, lower, count);
  });
}

void StoredVariable::copyFrom(Device &device, ArenaAddress source) const {
  if (!low)
    return device.copy(source, addressOf(variable.tensor), variable.tensor.bytes);
  write(device, [&](char *to, int64_t at, int64_t bytes) {
    device.read(source + at, bytes, [&](const char *from, int64_t begin, int64_t count) {
      std::memcpy(to + begin, from, static_cast<size_t>(count));
    });
  });
}

void StoredVariable::copyTo(Device &device, ArenaAddress destination) const {
  if (!low)
    return device.copy(addressOf(variable.tensor), destination, variable.tensor.bytes);
  read(device, [&](const char *from, int64_t at, int64_t bytes) {
    device.write(destination + at, bytes, [&](char *to, int64_t begin, int64_t count) {
      std::memcpy(to, from + begin, static_cast<size_t>(count));
    });
  });
}

void StoredVariable::exchange(Device &device, ArenaAddress other) const {
  const ArenaAddress own = addressOf(variable.tensor);
  if (!low) {
    std::vector<char> ours(pieceElements), theirs(pieceElements);
    inPieces(variable.tensor.bytes, [&](int64_t at, int64_t count) {
      readInto(device, own + at, ours, count);
      readInto(device, other + at, theirs, count);
      writeFrom(device, own + at, theirs, count);
      writeFrom(device, other + at, ours, count);
    });
    return;
  }
  std::vector<uint32_t> ours(pieceElements), theirs(pieceElements);
  std::vector<uint16_t> upper(pieceElements);
  std::vector<int16_t> lower(pieceElements);
  inPieces(variable.tensor.bytes / 2, [&](int64_t at, int64_t count) {
    readInto(device, own + 2 * at, upper, count);
    readInto(device, addressOf(low->tensor) + 2 * at, lower, count);
    join(upper, lower, ours, count);
    readInto(device, other + 4 * at, theirs, count);
    writeFrom(device, other + 4 * at, ours, count);
    split(theirs, upper, lower, count);
    writeFrom(device, own + 2 * at, upper, count);
    writeFrom(device, addressOf(low->tensor) + 2 * at, lower, count);
  });
}

void writeCopies(const MtcProgram &program, Device &device) {
  std::vector<float> values(pieceElements);
  std::vector<uint16_t> narrow(pieceElements);
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcTensor &copy = program.variables[i].tensor;
    if (program.variables[i].role != MTC_COPIED)
      continue;
    const MtcTensor &original = program.variables[program.variables[i].of].tensor;
    inPieces(copy.bytes / 2, [&](int64_t at, int64_t count) {
      readInto(device, addressOf(original) + 4 * at, values, count);
      narrowFloats(copy.type, values.data(), count, reinterpret_cast<char *>(narrow.data()));
      writeFrom(device, addressOf(copy) + 2 * at, narrow, count);
    });
  }
}

} // namespace mtc::runtime
