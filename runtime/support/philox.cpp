// Philox, and samples of the normal and uniform distributions.
#include "runtime/support/philox.h"

#include <cmath>

namespace mtc::runtime {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return c;
}

uint64_t hashName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : name)
    hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

static std::array<uint32_t, 4> wordsOf(uint64_t seed, uint64_t nameHash, uint64_t group) {
  auto low = [](uint64_t value) { return static_cast<uint32_t>(value); };
  auto high = [](uint64_t value) { return static_cast<uint32_t>(value >> 32); };
  return philox({low(group), high(group), low(seed), high(seed)}, {low(nameHash), high(nameHash)});
}

std::array<double, 4> normals(uint64_t seed, uint64_t nameHash, uint64_t group) {
  auto words = wordsOf(seed, nameHash, group);
  constexpr double scale = 1.0 / 4294967296.0, twoPi = 6.283185307179586476925;
  std::array<double, 4> result;
  for (size_t pair = 0; pair < 2; ++pair) {
    // In (0, 1], so that the logarithm is finite.
    double radius = std::sqrt(-2.0 * std::log((words[2 * pair] + 1.0) * scale));
    double angle = twoPi * (words[2 * pair + 1] * scale);
    result[2 * pair] = radius * std::cos(angle);
    result[2 * pair + 1] = radius * std::sin(angle);
  }
  return result;
}

std::array<double, 4> evenSamples(uint64_t seed, uint64_t nameHash, uint64_t group) {
  constexpr double scale = 1.0 / 2147483648.0;
  std::array<double, 4> result;
  auto words = wordsOf(seed, nameHash, group);
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = words[i] * scale - 1.0;
  return result;
}

} // namespace mtc::runtime
