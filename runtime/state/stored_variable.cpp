// Joins and splits the halves of f32 in chunks.
#include "runtime/state/stored_variable.h"

#include "runtime/collectives/piece_exchange.h"
#include "runtime/support/element_type.h"
#include "runtime/support/half_floats.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {
namespace {

/// Number of elements per chunk, a multiple of the chunks of Device::write.
constexpr int64_t chunkElements = 1 << 18;

/// Calls `use` on chunks [at, at + count) of [0, total).
template <typename Use> void inChunks(int64_t total, const Use &use) {
  for (int64_t at = 0; at < total; at += chunkElements)
    use(at, std::min(chunkElements, total - at));
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

/// Returns the number of elements of a variable's piece; 0 if it is not divided.
static int64_t pieceOf(const MtcVariable &variable) {
  return variable.whole ? variable.tensor.bytes / typeBytes(variable.tensor.type) : 0;
}

static const MtcTensor &wholeOf(const MtcVariable &variable) {
  return variable.whole ? *variable.whole : variable.tensor;
}

static int rankOf(Device &device) { return device.ranks() ? device.ranks()->rank() : 0; }

/// Gathers the pieces of a variable that every rank has whole, but of which each has written only
/// its piece.
static void sharePieces(Device &device, const MtcVariable &variable, int64_t piece) {
  Ranks *ranks = device.ranks();
  if (!ranks || ranks->count() == 1)
    return;
  PieceExchange &exchange = *ranks->pieces();
  const int64_t size = typeBytes(variable.tensor.type), total = variable.tensor.bytes;
  for (int r = 0; r < ranks->count(); ++r) {
    const int64_t end = std::min(total, (r + 1) * piece * size);
    for (int64_t at = r * piece * size; at < end; at += PieceExchange::chunkBytes) {
      const int64_t count = std::min(PieceExchange::chunkBytes, end - at);
      const ArenaAddress place = addressOf(variable.tensor) + at;
      if (r == ranks->rank())
        device.read(place, count, [&](const char *from, int64_t begin, int64_t bytes) {
          std::memcpy(exchange.chunk() + begin, from, static_cast<size_t>(bytes));
        });
      exchange.broadcast(r);
      if (r != ranks->rank())
        device.write(place, count, [&](char *to, int64_t begin, int64_t bytes) {
          std::memcpy(to, exchange.chunk() + begin, static_cast<size_t>(bytes));
        });
    }
  }
}

StoredVariable::StoredVariable(const MtcProgram &program, uint32_t index)
    : variable(program.variables[index]), index(index) {
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (program.variables[i].role == MTC_LOW_HALF &&
        program.variables[i].of == static_cast<int32_t>(index))
      low = &program.variables[i];
  piece = std::max(pieceOf(variable), low ? pieceOf(*low) : 0);
}

MtcTensor StoredVariable::tensor() const {
  MtcTensor whole = wholeOf(variable);
  // A piece has no address of its own in the value.
  whole.offset = variable.tensor.offset;
  whole.space = variable.tensor.space;
  if (low) {
    whole.type = MTC_F32;
    whole.bytes *= 2;
  }
  return whole;
}

StoredVariable::Range StoredVariable::all() const { return {0, bytes() / typeBytes(type())}; }

StoredVariable::Range StoredVariable::owned(Device &device) const {
  if (!piece)
    return all();
  const int64_t begin = rankOf(device) * piece;
  return {begin, std::min(all().end, begin + piece)};
}

ArenaAddress StoredVariable::place(Device &device, const MtcVariable &stored,
                                   int64_t element) const {
  const int64_t first = stored.whole ? rankOf(device) * piece : 0;
  return addressOf(stored.tensor) + (element - first) * typeBytes(stored.tensor.type);
}

void StoredVariable::readRange(Device &device, Range range, const Device::Use &use) const {
  const int64_t size = typeBytes(type());
  if (!low) {
    if (range.count())
      device.read(place(device, variable, range.begin), range.count() * size,
                  [&](const char *from, int64_t at, int64_t bytes) {
                    use(from, range.begin * size + at, bytes);
                  });
    return;
  }
  std::vector<uint32_t> joined(chunkElements);
  std::vector<uint16_t> upper(chunkElements);
  std::vector<int16_t> lower(chunkElements);
  inChunks(range.count(), [&](int64_t at, int64_t count) {
    readInto(device, place(device, variable, range.begin + at), upper, count);
    readInto(device, place(device, *low, range.begin + at), lower, count);
    join(upper, lower, joined, count);
    use(reinterpret_cast<const char *>(joined.data()), size * (range.begin + at), size * count);
  });
}

void StoredVariable::readOwn(Device &device, const Device::Use &use) const {
  readRange(device, owned(device), use);
}

void StoredVariable::readOwn(Device &device, int64_t begin, int64_t most,
                             const Device::Use &use) const {
  const int64_t size = typeBytes(type());
  readRange(device, {begin / size, std::min(owned(device).end, (begin + most) / size)}, use);
}

int64_t StoredVariable::pieceBytes() const { return piece * typeBytes(type()); }

void StoredVariable::readPiece(Device &device, int rank, const Device::Use &use) const {
  PieceExchange &exchange = *device.ranks()->pieces();
  const int64_t end = std::min(bytes(), (rank + 1) * pieceBytes());
  for (int64_t at = rank * pieceBytes(); at < end; at += PieceExchange::chunkBytes) {
    exchange.keepWaiting();
    exchange.ask(rank, {PieceRequest::Kind::Read, index, at});
    exchange.sendToLeader(rank);
    use(exchange.chunk(), at, std::min(PieceExchange::chunkBytes, end - at));
  }
}

void StoredVariable::read(Device &device, const Device::Use &use) const {
  Ranks *ranks = device.ranks();
  PieceExchange *waiting = ranks && ranks->isLeader() ? ranks->pieces() : nullptr;
  readRange(device, owned(device), [&](const char *from, int64_t at, int64_t bytes) {
    if (waiting)
      waiting->keepWaiting();
    use(from, at, bytes);
  });
  if (!piece || !ranks)
    return;
  for (int r = 1; r < ranks->count(); ++r)
    readPiece(device, r, use);
}

void StoredVariable::writeRange(Device &device, Range range, const Device::Fill &fill) const {
  const int64_t size = typeBytes(type());
  if (!low) {
    if (range.count())
      device.write(
          place(device, variable, range.begin), range.count() * size,
          [&](char *to, int64_t at, int64_t bytes) { fill(to, range.begin * size + at, bytes); });
    return;
  }
  // The upper halves may be whole where the lower ones are a piece.
  const Range own = owned(device);
  std::vector<uint32_t> whole(chunkElements);
  std::vector<uint16_t> upper(chunkElements);
  std::vector<int16_t> lower(chunkElements);
  inChunks(range.count(), [&](int64_t at, int64_t count) {
    const int64_t begin = range.begin + at;
    fill(reinterpret_cast<char *>(whole.data()), size * begin, size * count);
    split(whole, upper, lower, count);
    writeFrom(device, place(device, variable, begin), upper, count);
    const Range kept{low->whole ? std::max(begin, own.begin) : begin,
                     low->whole ? std::min(begin + count, own.end) : begin + count};
    if (!kept.count())
      return;
    std::copy_n(lower.begin() + (kept.begin - begin), kept.count(), lower.begin());
    writeFrom(device, place(device, *low, kept.begin), lower, kept.count());
  });
}

bool StoredVariable::write(Device &device, const Device::Fill &fill) const {
  const Range stored = variable.whole ? owned(device) : all();
  writeRange(device, stored, fill);
  return stored.count() == all().count();
}

StoredVariable::Range StoredVariable::common(Device &device, const MtcVariable &other) const {
  const int64_t divided = std::max(piece, pieceOf(other));
  if (!divided)
    return all();
  const int64_t begin = rankOf(device) * divided;
  return {begin, std::min(all().end, begin + divided)};
}

void StoredVariable::share(Device &device, int64_t divided) const {
  for (const MtcVariable *each : {&variable, low})
    if (each && !each->whole && divided)
      sharePieces(device, *each, divided);
}

void StoredVariable::copyFrom(Device &device, const MtcVariable &other) const {
  const Range range = common(device, other);
  const int64_t size = typeBytes(type());
  const ArenaAddress source = addressOf(other.tensor) + (other.whole ? 0 : range.begin * size);
  writeRange(device, range, [&](char *to, int64_t at, int64_t bytes) {
    device.read(source + (at - range.begin * size), bytes,
                [&](const char *from, int64_t begin, int64_t count) {
                  std::memcpy(to + begin, from, static_cast<size_t>(count));
                });
  });
  share(device, pieceOf(other));
}

void StoredVariable::copyTo(Device &device, const MtcVariable &other) const {
  const Range range = common(device, other);
  const int64_t size = typeBytes(type());
  const ArenaAddress destination = addressOf(other.tensor) + (other.whole ? 0 : range.begin * size);
  readRange(device, range, [&](const char *from, int64_t at, int64_t bytes) {
    device.write(destination + (at - range.begin * size), bytes,
                 [&](char *to, int64_t begin, int64_t count) {
                   std::memcpy(to, from + begin, static_cast<size_t>(count));
                 });
  });
}

void StoredVariable::exchange(Device &device, const MtcVariable &other) const {
  const Range range = common(device, other);
  const int64_t size = typeBytes(type());
  const ArenaAddress place = addressOf(other.tensor) + (other.whole ? 0 : range.begin * size);
  std::vector<char> ours(static_cast<size_t>(chunkElements * size)), theirs(ours.size());
  inChunks(range.count(), [&](int64_t at, int64_t count) {
    const Range part{range.begin + at, range.begin + at + count};
    readRange(device, part, [&](const char *from, int64_t begin, int64_t bytes) {
      std::memcpy(ours.data() + (begin - part.begin * size), from, static_cast<size_t>(bytes));
    });
    readInto(device, place + at * size, theirs, count * size);
    writeRange(device, part, [&](char *to, int64_t begin, int64_t bytes) {
      std::memcpy(to, theirs.data() + (begin - part.begin * size), static_cast<size_t>(bytes));
    });
    writeFrom(device, place + at * size, ours, count * size);
  });
  share(device, pieceOf(other));
}

void writeCopies(const MtcProgram &program, Device &device) {
  std::vector<float> values(chunkElements);
  std::vector<uint16_t> narrow(chunkElements);
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &copy = program.variables[i];
    if (copy.role != MTC_COPIED)
      continue;
    const MtcVariable &original = program.variables[copy.of];
    // A whole copy of a piece starts as the same piece.
    const int64_t piece = copy.whole ? 0 : pieceOf(original), begin = rankOf(device) * piece;
    const int64_t all = copy.tensor.bytes / 2;
    inChunks(piece ? std::clamp<int64_t>(all - begin, 0, piece) : all, [&](int64_t at,
                                                                           int64_t count) {
      readInto(device, addressOf(original.tensor) + 4 * at, values, count);
      narrowFloats(copy.tensor.type, values.data(), count, reinterpret_cast<char *>(narrow.data()));
      writeFrom(device, addressOf(copy.tensor) + 2 * (begin + at), narrow, count);
    });
    if (piece)
      sharePieces(device, copy, piece);
  }
}

bool hasDividedVariables(const MtcProgram &program) {
  return std::any_of(program.variables, program.variables + program.variable_count,
                     [](const MtcVariable &variable) { return variable.whole != nullptr; });
}

} // namespace mtc::runtime
