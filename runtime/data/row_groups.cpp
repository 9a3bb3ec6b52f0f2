// The rows of a group are found by a binary search for the block, and a scan of it.
#include "runtime/data/row_groups.h"

#include <cassert>

namespace mtc::runtime {

void RowGroups::add(size_t group) {
  assert(group < counts.size() && "not a group");
  if (groups.size() % blockRows == 0)
    starts.insert(starts.end(), counts.begin(), counts.end());
  groups.push_back(static_cast<uint8_t>(group));
  ++counts[group];
}

int64_t RowGroups::row(size_t group, int64_t index) const {
  assert(index < counts[group] && "not a row of the group");
  size_t low = 0, high = starts.size() / counts.size(); // The block is in [low, high).
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (starts[middle * counts.size() + group] <= index ? low : high) = middle;
  }
  int64_t left = index - starts[low * counts.size() + group];
  for (size_t row = low * blockRows;; ++row)
    if (groups[row] == group && left-- == 0)
      return static_cast<int64_t>(row);
}

} // namespace mtc::runtime
