// Joins and splits the halves of f32 in chunks.
#include "runtime/state/stored_variable.h"

#include "runtime/collectives/piece_exchange.h"
#include "runtime/state/variables.h"
#include "runtime/support/element_type.h"
#include "runtime/support/floats.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

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

static int rankOf(Device &device) { return device.ranks() ? device.ranks()->rank() : 0; }

/// Returns the address in a variable of a run of a share that the rank has. The variable may have
/// all elements, or those of the share's part.
static ArenaAddress addressOf(const MtcVariable &variable, const ElementRun &run) {
  const int64_t number = !variable.whole ? run.value : variable.pieces > 1 ? run.own : run.part;
  return addressOf(variable.tensor) + number * typeBytes(variable.tensor.type);
}

/// Gathers the shares of a variable, of which each rank has written only its own, on the ranks that
/// have their elements. A chunk has several runs of a share, which may be short.
static void gatherShares(Device &device, const MtcVariable &variable, const Division &division) {
  Ranks *ranks = device.ranks();
  if (!ranks || ranks->count() == 1)
    return;
  PieceExchange &exchange = *ranks->pieces();
  const int64_t size = typeBytes(variable.tensor.type), perChunk = PieceExchange::chunkBytes / size;
  auto gather = [&](int64_t share, int64_t begin, int64_t end) {
    const int owner = division.ownerOf(share);
    const bool has = division.isHeldBy(ranks->rank()) &&
                     (!variable.whole ||
                      share % division.parts == division.shareOf(ranks->rank()) % division.parts);
    if (owner == ranks->rank())
      division.forEachRun(share, begin, end, [&](const ElementRun &run) {
        device.read(addressOf(variable, run), run.count * size,
                    [&](const char *from, int64_t at, int64_t bytes) {
                      std::memcpy(exchange.chunk() + (run.own - begin) * size + at, from,
                                  static_cast<size_t>(bytes));
                    });
      });
    exchange.broadcast(owner);
    if (!has || owner == ranks->rank())
      return;
    division.forEachRun(share, begin, end, [&](const ElementRun &run) {
      device.write(addressOf(variable, run), run.count * size,
                   [&](char *to, int64_t at, int64_t bytes) {
                     std::memcpy(to, exchange.chunk() + (run.own - begin) * size + at,
                                 static_cast<size_t>(bytes));
                   });
    });
  };
  for (int64_t share = 0; share < division.ownedShares(); ++share)
    for (int64_t begin = 0, count = division.countOf(share); begin < count; begin += perChunk)
      gather(share, begin, std::min(count, begin + perChunk));
}

/// Returns that of two divisions of a value which has more shares.
static Division finer(const Division &a, const Division &b) {
  return !a || (b && b.shares() > a.shares()) ? b : a;
}

StoredVariable::StoredVariable(const MtcProgram &program, uint32_t index)
    : program(program), variable(program.variables[index]), index(index),
      low(lowHalfOf(program, index)) {
  division = Division::of(program, variable);
  if (low)
    division = finer(division, Division::of(program, *low));
}

MtcTensor StoredVariable::tensor() const { return wholeTensor(variable, low); }

template <typename Use>
void StoredVariable::forEachOwnRun(Device &device, const Division &each, const Use &use) const {
  if (!each)
    return use(all());
  if (!each.isHeldBy(rankOf(device)))
    return;
  const int64_t share = each.shareOf(rankOf(device));
  each.forEachRun(share, 0, each.countOf(share), use);
}

void StoredVariable::readRun(Device &device, const ElementRun &run, const Device::Use &use) const {
  const int64_t size = typeBytes(type());
  if (!low) {
    if (run.count)
      device.read(addressOf(variable, run), run.count * size,
                  [&](const char *from, int64_t at, int64_t bytes) {
                    use(from, run.value * size + at, bytes);
                  });
    return;
  }
  // Runs of parts along an inner axis are short.
  const auto buffered = static_cast<size_t>(std::min(run.count, chunkElements));
  std::vector<uint32_t> joined(buffered);
  std::vector<uint16_t> upper(buffered);
  std::vector<int16_t> lower(buffered);
  inChunks(run.count, [&](int64_t at, int64_t count) {
    const ElementRun part = run.from(at, count);
    readInto(device, addressOf(variable, part), upper, count);
    readInto(device, addressOf(*low, part), lower, count);
    join(upper, lower, joined, count);
    use(reinterpret_cast<const char *>(joined.data()), size * part.value, size * count);
  });
}

void StoredVariable::readOwn(Device &device, const Device::Use &use) const {
  forEachOwnRun(device, division, [&](const ElementRun &run) { readRun(device, run, use); });
}

void StoredVariable::readOwn(Device &device, int64_t begin, int64_t maximum,
                             const Device::Use &use) const {
  const int64_t size = typeBytes(type()), share = division.shareOf(rankOf(device));
  division.forEachRun(share, begin / size,
                      std::min(division.countOf(share), (begin + maximum) / size),
                      [&](const ElementRun &run) { readRun(device, run, use); });
}

int64_t StoredVariable::shareBytes(int64_t share) const {
  return division.countOf(share) * typeBytes(type());
}

PieceSizes StoredVariable::pieceSizes() const {
  const int64_t size = typeBytes(type());
  if (!isDivided())
    return {};
  const bool hasPadding = division.padding() != 0;
  if (division.parts == 1 && !hasPadding)
    return {.bytes = division.piece * size};
  return {.bytes = division.run * size,
          .parts = division.parts,
          .bytesOfShare = division.pieces > 1 ? division.piece * size : 0,
          .bytesOfBlock = hasPadding ? division.block * size : 0};
}

void StoredVariable::receive(Device &device, int64_t share, int64_t begin, int64_t bytes,
                             const Device::Use &use) const {
  PieceExchange &exchange = *device.ranks()->pieces();
  const int rank = division.ownerOf(share);
  const int64_t size = typeBytes(type()), end = begin + bytes;
  for (int64_t at = begin; at < end; at += PieceExchange::chunkBytes) {
    exchange.keepWaiting();
    exchange.ask(rank, {PieceRequest::Kind::Read, index, at});
    exchange.sendToLeader(rank);
    const int64_t last = std::min(end, at + PieceExchange::chunkBytes);
    const char *from = exchange.chunk();
    division.forEachRun(share, at / size, last / size, [&](const ElementRun &run) {
      use(from, run.value * size, run.count * size);
      from += run.count * size;
    });
  }
}

void StoredVariable::readShare(Device &device, int64_t share, const Device::Use &use) const {
  receive(device, share, 0, shareBytes(share), use);
}

/// The elements of each share, [begin, end), that are among the elements [first, last) of a value.
static std::map<int64_t, std::pair<int64_t, int64_t>> sharesOf(const Division &division,
                                                               int64_t first, int64_t last) {
  std::map<int64_t, std::pair<int64_t, int64_t>> shares;
  for (int64_t at = first; at < last;) {
    const ElementRun run = division.runAt(at);
    const int64_t count = std::min(run.count, last - at);
    auto [found, isNew] =
        shares.try_emplace(division.shareOfElement(at), std::pair(run.own, run.own));
    found->second.second = run.own + count;
    at += count;
  }
  return shares;
}

void StoredVariable::readDivided(Device &device, int64_t first, int64_t last,
                                 const Device::Use &use) const {
  const int64_t size = typeBytes(type());
  for (const auto &[share, elements] : sharesOf(division, first, last)) {
    const auto [begin, end] = elements;
    if (isHeldBy(rankOf(device)) && share == division.shareOf(rankOf(device)))
      division.forEachRun(share, begin, end,
                          [&](const ElementRun &run) { readRun(device, run, use); });
    else if (device.ranks())
      receive(device, share, begin * size, (end - begin) * size, use);
  }
}

void StoredVariable::read(Device &device, const Device::Use &use) const {
  Ranks *ranks = device.ranks();
  PieceExchange *waiting = ranks && ranks->isLeader() ? ranks->pieces() : nullptr;
  // The only share has all elements; padding would separate them.
  if (!division || (!isDivided() && !division.padding() && isHeldBy(rankOf(device))))
    return readRun(device, all(), [&](const char *from, int64_t at, int64_t bytes) {
      if (waiting)
        waiting->keepWaiting();
      use(from, at, bytes);
    });
  // Each rank sends its runs among these bytes, which may be short, in one message.
  constexpr int64_t mostParts = 8;
  const int64_t size = typeBytes(type()),
                window = PieceExchange::chunkBytes * std::min(division.parts, mostParts) / size;
  std::vector<char> elements(static_cast<size_t>(std::min(window, division.total) * size));
  for (int64_t first = 0; first < division.total; first += window) {
    const int64_t last = std::min(division.total, first + window);
    if (waiting)
      waiting->keepWaiting();
    readDivided(device, first, last, [&](const char *from, int64_t at, int64_t bytes) {
      std::memcpy(elements.data() + (at - first * size), from, static_cast<size_t>(bytes));
    });
    use(elements.data(), first * size, (last - first) * size);
  }
}

void StoredVariable::writeRun(Device &device, const ElementRun &run,
                              const Device::Fill &fill) const {
  const int64_t size = typeBytes(type());
  if (!low) {
    if (run.count)
      device.write(
          addressOf(variable, run), run.count * size,
          [&](char *to, int64_t at, int64_t bytes) { fill(to, run.value * size + at, bytes); });
    return;
  }
  // Runs of parts along an inner axis are short.
  const auto buffered = static_cast<size_t>(std::min(run.count, chunkElements));
  std::vector<uint32_t> whole(buffered);
  std::vector<uint16_t> upper(buffered);
  std::vector<int16_t> lower(buffered);
  std::vector<int16_t> kept(buffered);
  inChunks(run.count, [&](int64_t at, int64_t count) {
    const ElementRun part = run.from(at, count);
    fill(reinterpret_cast<char *>(whole.data()), size * part.value, size * count);
    split(whole, upper, lower, count);
    writeFrom(device, addressOf(variable, part), upper, count);
    if (!low->whole)
      return writeFrom(device, addressOf(*low, part), lower, count);
    // The upper halves may be undivided where the lower ones are a piece.
    division.forEachRunWithin(division.shareOf(rankOf(device)), part.value, part.value + count,
                              [&](const ElementRun &own) {
                                std::copy_n(lower.begin() + (own.value - part.value), own.count,
                                            kept.begin());
                                writeFrom(device, addressOf(*low, own), kept, own.count);
                              });
  });
}

bool StoredVariable::write(Device &device, const Device::Fill &fill) const {
  int64_t count = 0;
  forEachOwnRun(device, Division::of(program, variable), [&](const ElementRun &run) {
    writeRun(device, run, fill);
    count += run.count;
  });
  return count == all().count;
}

Division StoredVariable::common(const MtcVariable &other) const {
  return finer(division, Division::of(program, other));
}

void StoredVariable::gather(Device &device, const Division &written) const {
  for (const MtcVariable *each : {&variable, low})
    if (each && written.shares() > Division::of(program, *each).shares())
      gatherShares(device, *each, written);
}

void StoredVariable::copyFrom(Device &device, const MtcVariable &other) const {
  const int64_t size = typeBytes(type());
  forEachOwnRun(device, common(other), [&](const ElementRun &run) {
    const ArenaAddress source = addressOf(other, run);
    writeRun(device, run, [&](char *to, int64_t at, int64_t bytes) {
      device.read(source + (at - run.value * size), bytes,
                  [&](const char *from, int64_t begin, int64_t count) {
                    std::memcpy(to + begin, from, static_cast<size_t>(count));
                  });
    });
  });
  gather(device, common(other));
}

void StoredVariable::copyTo(Device &device, const MtcVariable &other) const {
  const int64_t size = typeBytes(type());
  forEachOwnRun(device, common(other), [&](const ElementRun &run) {
    const ArenaAddress destination = addressOf(other, run);
    readRun(device, run, [&](const char *from, int64_t at, int64_t bytes) {
      device.write(destination + (at - run.value * size), bytes,
                   [&](char *to, int64_t begin, int64_t count) {
                     std::memcpy(to, from + begin, static_cast<size_t>(count));
                   });
    });
  });
}

void StoredVariable::exchange(Device &device, const MtcVariable &other) const {
  const int64_t size = typeBytes(type());
  std::vector<char> ours(static_cast<size_t>(chunkElements * size)), theirs(ours.size());
  forEachOwnRun(device, common(other), [&](const ElementRun &run) {
    inChunks(run.count, [&](int64_t at, int64_t count) {
      const ElementRun part = run.from(at, count);
      const ArenaAddress place = addressOf(other, part);
      readRun(device, part, [&](const char *from, int64_t begin, int64_t bytes) {
        std::memcpy(ours.data() + (begin - part.value * size), from, static_cast<size_t>(bytes));
      });
      readInto(device, place, theirs, count * size);
      writeRun(device, part, [&](char *to, int64_t begin, int64_t bytes) {
        std::memcpy(to, theirs.data() + (begin - part.value * size), static_cast<size_t>(bytes));
      });
      writeFrom(device, place, ours, count * size);
    });
  });
  gather(device, common(other));
}

void writeCopies(const MtcProgram &program, Device &device) {
  std::vector<float> values(chunkElements);
  std::vector<uint16_t> narrow(chunkElements);
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &copy = program.variables[i];
    if (copy.role != MTC_COPIED)
      continue;
    const MtcVariable &original = program.variables[copy.of];
    auto write = [&](ArenaAddress from, ArenaAddress to, int64_t all) {
      inChunks(all, [&](int64_t at, int64_t count) {
        readInto(device, from + 4 * at, values, count);
        narrowFloats(copy.tensor.type, values.data(), count,
                     reinterpret_cast<char *>(narrow.data()));
        writeFrom(device, to + 2 * at, narrow, count);
      });
    };
    const Division division = Division::of(program, original);
    const bool isHeld = division.isHeldBy(rankOf(device));
    if (division.shares() == Division::of(program, copy).shares()) {
      if (isHeld)
        write(addressOf(original.tensor), addressOf(copy.tensor), copy.tensor.bytes / 2);
      continue;
    }
    // The original is divided further than the copy: each rank writes the elements of its share.
    const int64_t share = division.shareOf(rankOf(device));
    if (isHeld)
      division.forEachRun(share, 0, division.countOf(share), [&](const ElementRun &run) {
        write(addressOf(original, run), addressOf(copy, run), run.count);
      });
    gatherShares(device, copy, division);
  }
}

bool hasPartialVariables(const MtcProgram &program) {
  return std::any_of(program.variables, program.variables + program.variable_count,
                     [&](const MtcVariable &variable) {
                       const Division division = Division::of(program, variable);
                       return division.shares() > 1 || division.ranks > 0;
                     });
}

} // namespace mtc::runtime
