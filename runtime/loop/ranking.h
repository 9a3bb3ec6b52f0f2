// Metrics of the order of scores.
#ifndef MTC_RUNTIME_LOOP_RANKING_H
#define MTC_RUNTIME_LOOP_RANKING_H

#include <cstdint>
#include <span>
#include <vector>

namespace mtc::runtime {

/// Counts positive and negative targets by score, for one class or label, or for several. The
/// memory does not depend on the number of targets: if there are too many distinct scores, those
/// that agree in their leading bits are counted as equal, with as many bits as possible. The counts
/// therefore do not depend on the order of targets.
class Ranking {
public:
  /// Sets the number of classes. Must be called before `add`, always with the same number.
  void setClasses(size_t count);
  /// Adds the score of a target for a class. A score that is not a number makes the metrics of its
  /// class not a number.
  void add(size_t label, float score, bool isPositive);
  void add(const Ranking &other);

  /// Return the mean over the classes that have positive and negative targets; not a number if
  /// there is none. The area under the ROC curve counts equal scores by half. The average precision
  /// is the sum over the distinct scores of precision times the increase of recall, without
  /// interpolation. Both are those of scikit-learn.
  double auc() const;
  double averagePrecision() const;

  /// Append all counts to a list of numbers, and add those of such a list, whose rest is returned.
  void write(std::vector<int64_t> &list) const;
  std::span<const int64_t> read(std::span<const int64_t> list);

private:
  /// The targets of a score, whose order is that of the keys.
  struct Entry {
    int32_t key;
    int64_t positive, negative;
  };

  /// The scores of a class.
  class Scores {
  public:
    /// Counts targets. Keeps at most `capacity` distinct scores.
    void add(const Entry &entry, size_t capacity);
    void add(const Scores &other, size_t capacity);
    /// Merges added scores, so that `entries` are distinct and ascending.
    void settle(size_t capacity);

    std::vector<Entry> entries;
    std::vector<Entry> added; ///< not merged yet
    int64_t unordered = 0;    ///< scores that are not a number
    int dropped = 0;          ///< bits of keys that are ignored
  };

  template <typename Metric> double meanOf(const Metric &metric) const;

  std::vector<Scores> classes;
  size_t capacity = 0; ///< distinct scores of a class
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_RANKING_H
