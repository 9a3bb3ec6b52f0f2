// The division of a variable among the ranks of a program.
#ifndef MTC_RUNTIME_STATE_DIVISION_H
#define MTC_RUNTIME_STATE_DIVISION_H

#include "runtime/abi/collective.h"
#include "runtime/abi/program.h"
#include "runtime/support/element_type.h"

#include <algorithm>
#include <cstdint>

namespace mtc::runtime {

/// Consecutive elements of a variable that are consecutive in the memory of a rank.
struct ElementRun {
  int64_t own;   ///< number of the first element among those of the rank
  int64_t value; ///< number of the first element in the whole value
  int64_t count;
};

/// The parts of a value: runs of elements belong to the parts in turn. See MtcVariable.
struct Division {
  int64_t run = 0; ///< elements of a run; 0: the value is not divided
  int64_t parts = 1;
  int64_t stride = 1; ///< of the ranks of a group
  int64_t total = 0;  ///< elements of the value

  static Division of(const MtcVariable &variable) {
    if (!variable.whole)
      return {};
    return {variable.run, variable.parts, variable.stride,
            variable.whole->bytes / typeBytes(variable.whole->type)};
  }

  explicit operator bool() const { return run != 0; }
  /// Returns whether a part consists of several runs.
  bool isInterleaved() const { return run * parts < total; }

  int64_t partOf(int rank) const { return mtc_number_in_group(rank, parts, stride); }
  int64_t partOfElement(int64_t element) const { return element / run % parts; }
  /// Returns the first rank that has a part; other groups have copies of it.
  int ownerOf(int64_t part) const { return static_cast<int>(part * stride); }
  /// Returns the number of parts that have elements, which are the first ones.
  int64_t ownedParts() const { return std::min(parts, (total + run - 1) / run); }
  /// Returns the number of elements of a part.
  int64_t countOf(int64_t part) const {
    const int64_t rest = total % (run * parts);
    return total / (run * parts) * run + std::clamp<int64_t>(rest - part * run, 0, run);
  }

  /// Calls `use` with the runs of a part's elements from number `begin` to number `end`.
  template <typename Use>
  void forEachRun(int64_t part, int64_t begin, int64_t end, const Use &use) const {
    for (int64_t own = begin; own < end;) {
      const int64_t inRun = own % run, count = std::min(run - inRun, end - own);
      use(ElementRun{own, (own / run * parts + part) * run + inRun, count});
      own += count;
    }
  }
  /// Calls `use` with the runs of a part among the elements [begin, end) of the value.
  template <typename Use>
  void forEachRunWithin(int64_t part, int64_t begin, int64_t end, const Use &use) const {
    const int64_t period = run * parts;
    for (int64_t n = begin / period; n * period < end; ++n) {
      const int64_t start = n * period + part * run, first = std::max(start, begin),
                    last = std::min(start + run, end);
      if (first < last)
        use(ElementRun{n * run + first - start, first, last - first});
    }
  }
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_DIVISION_H
