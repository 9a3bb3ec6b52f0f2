// Edit distances between names.
#include "runtime/support/closest_name.h"

#include <algorithm>
#include <numeric>

namespace mtc::runtime {

/// Returns the Levenshtein distance: the minimum number of insertions, deletions and substitutions
/// (Wagner-Fischer algorithm, one row at a time).
static size_t distance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string suggestion(const std::string &given, const std::vector<std::string> &known) {
  const std::string *best = nullptr;
  size_t closest = given.size() / 3 + 2;
  if (given.size() > 200)
    return "";
  for (const std::string &name : known) {
    size_t d = distance(given, name);
    if (d < closest && d < name.size()) {
      closest = d;
      best = &name;
    }
  }
  return best ? "; did you mean '" + *best + "'?" : "";
}

} // namespace mtc::runtime
