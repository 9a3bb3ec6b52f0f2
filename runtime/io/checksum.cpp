// The XXH64 algorithm.
#include "runtime/io/checksum.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

namespace mtc::runtime {
namespace {

constexpr uint64_t prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F,
                   prime3 = 0x165667B19E3779F9, prime4 = 0x85EBCA77C2B2AE63,
                   prime5 = 0x27D4EB2F165667C5;

using Lanes = std::array<uint64_t, 4>;
constexpr int64_t blockBytes = 32;

template <typename Word> Word load(const unsigned char *from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

uint64_t mix(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * prime2, 31) * prime1;
}

/// Adds whole blocks. The lanes are passed by value so that they stay in registers.
Lanes addBlocks(Lanes lanes, const unsigned char *p, const unsigned char *end) {
  for (; p < end; p += blockBytes)
    for (size_t i = 0; i < lanes.size(); ++i)
      lanes[i] = mix(lanes[i], load<uint64_t>(p + 8 * i));
  return lanes;
}

} // namespace

Checksum::Checksum() : lanes{prime1 + prime2, prime2, 0, 0 - prime1} {}

void Checksum::add(const void *piece, int64_t bytes) {
  auto *p = static_cast<const unsigned char *>(piece), *end = p + bytes;
  const auto held = static_cast<int64_t>(total % blockBytes);
  total += static_cast<uint64_t>(bytes);
  if (held) {
    const int64_t taken = std::min(bytes, blockBytes - held);
    std::copy(p, p + taken, rest.data() + held);
    p += taken;
    if (held + taken < blockBytes)
      return;
    lanes = addBlocks(lanes, rest.data(), rest.data() + blockBytes);
  }
  const unsigned char *last = p + (end - p) / blockBytes * blockBytes;
  lanes = addBlocks(lanes, p, last);
  std::copy(last, end, rest.data());
}

uint64_t Checksum::value() const {
  uint64_t hash = prime5;
  if (total >= 32) {
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
           std::rotl(lanes[3], 18);
    for (uint64_t lane : lanes)
      hash = (hash ^ mix(0, lane)) * prime1 + prime4;
  }
  hash += total;
  auto *p = rest.data(), *end = p + total % 32;
  for (; end - p >= 8; p += 8)
    hash = std::rotl(hash ^ mix(0, load<uint64_t>(p)), 27) * prime1 + prime4;
  for (; end - p >= 4; p += 4)
    hash = std::rotl(hash ^ load<uint32_t>(p) * prime1, 23) * prime2 + prime3;
  for (; p < end; ++p)
    hash = std::rotl(hash ^ *p * prime5, 11) * prime1;
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}

void PieceChecksum::Part::endShare() {
  complete.push_back(std::exchange(share, {}).value());
  inShare = 0;
}

void PieceChecksum::Part::skip(int64_t bytes, int64_t bytesOfShare) {
  while (bytesOfShare && inShare + bytes >= bytesOfShare) {
    bytes -= bytesOfShare - inShare;
    endShare();
  }
  inShare += bytes;
}

void PieceChecksum::skipPadding() {
  inBlock = 0;
  while (inPiece != 0 || (!parts.empty() && static_cast<size_t>(number) % parts.size() != 0)) {
    if (!parts.empty())
      parts[static_cast<size_t>(number) % parts.size()].skip(sizes.bytes - inPiece,
                                                             sizes.bytesOfShare);
    inPiece = 0;
    ++number;
  }
}

void PieceChecksum::add(const void *bytes, int64_t count) {
  auto *next = static_cast<const char *>(bytes);
  while (count > 0) {
    int64_t added = sizes.bytes ? std::min(count, sizes.bytes - inPiece) : count;
    if (sizes.bytesOfBlock)
      added = std::min(added, sizes.bytesOfBlock - inBlock);
    if (parts.empty()) {
      piece.add(next, added);
    } else {
      Part &part = parts[static_cast<size_t>(number) % parts.size()];
      if (sizes.bytesOfShare)
        added = std::min(added, sizes.bytesOfShare - part.inShare);
      part.share.add(next, added);
      part.inShare += added;
      if (part.inShare == sizes.bytesOfShare)
        part.endShare();
    }
    inPiece += added;
    inBlock += added;
    next += added;
    count -= added;
    if (inPiece == sizes.bytes) {
      inPiece = 0;
      ++number;
      if (parts.empty())
        addPiece(std::exchange(piece, {}).value());
    }
    if (sizes.bytesOfBlock && inBlock == sizes.bytesOfBlock)
      skipPadding();
  }
}

void PieceChecksum::addPiece(uint64_t checksum) {
  std::array<unsigned char, 8> word;
  for (size_t i = 0; i < word.size(); ++i)
    word[i] = static_cast<unsigned char>(checksum >> 8 * i);
  pieces.add(word.data(), word.size());
}

uint64_t PieceChecksum::value() const {
  if (!sizes.bytes)
    return piece.value();
  PieceChecksum all = *this;
  if (inPiece && parts.empty())
    all.addPiece(piece.value());
  size_t shares = 0; // of a part
  for (Part &part : all.parts) {
    if (part.inShare)
      part.endShare();
    shares = std::max(shares, part.complete.size());
  }
  for (size_t i = 0; i < shares; ++i)
    for (const Part &part : all.parts)
      if (i < part.complete.size())
        all.addPiece(part.complete[i]);
  return all.pieces.value();
}

std::string checksumText(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::optional<uint64_t> parseChecksum(const std::string &text) {
  uint64_t value = 0;
  const char *end = text.data() + text.size();
  const bool isChecksum =
      text.size() == checksumDigits && std::from_chars(text.data(), end, value, 16).ptr == end;
  return isChecksum ? std::optional(value) : std::nullopt;
}

} // namespace mtc::runtime
