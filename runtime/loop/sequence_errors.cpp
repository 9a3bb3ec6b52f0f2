#include "runtime/loop/sequence_errors.h"

#include <algorithm>
#include <numeric>

namespace mtc::runtime {

std::vector<int32_t> decodeFrames(std::span<const int32_t> frames) {
  std::vector<int32_t> labels;
  int32_t before = -1;
  for (int32_t each : frames) {
    if (each >= 0 && each != before)
      labels.push_back(each);
    before = each;
  }
  return labels;
}

int64_t editDistance(std::span<const int32_t> one, std::span<const int32_t> other) {
  // distances[i]: of the elements of `one` so far to the first i of `other`.
  std::vector<int64_t> distances(other.size() + 1);
  std::iota(distances.begin(), distances.end(), 0);
  for (int32_t element : one) {
    int64_t diagonal = distances[0]++;
    for (size_t i = 0; i < other.size(); ++i) {
      const int64_t substituted = diagonal + (element == other[i] ? 0 : 1);
      diagonal = distances[i + 1];
      distances[i + 1] = std::min({substituted, diagonal + 1, distances[i] + 1});
    }
  }
  return distances.back();
}

} // namespace mtc::runtime
