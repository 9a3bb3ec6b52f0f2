// Rows of a data set, each of which belongs to a group.
#ifndef MTC_RUNTIME_DATA_ROW_GROUPS_H
#define MTC_RUNTIME_DATA_ROW_GROUPS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// Stores the group of each row in a byte, and finds the rows of a group with the number of rows
/// before each block of rows.
class RowGroups {
public:
  static constexpr size_t maxGroups = 256;

  explicit RowGroups(size_t groups) : counts(groups) {}

  /// Appends a row.
  void add(size_t group);

  size_t groupOf(int64_t row) const { return groups[static_cast<size_t>(row)]; }
  /// Returns the number of rows of a group.
  int64_t count(size_t group) const { return counts[group]; }
  /// Returns row `index` (from 0) of a group, in the order of the data.
  int64_t row(size_t group, int64_t index) const;

private:
  static constexpr size_t blockRows = 512;

  std::vector<uint8_t> groups; ///< of each row
  std::vector<int64_t> counts; ///< of each group
  std::vector<int64_t> starts; ///< for each block and group, the number of its rows before it
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_ROW_GROUPS_H
