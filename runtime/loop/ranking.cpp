#include "runtime/loop/ranking.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace mtc::runtime {

/// Returns an integer whose order is that of the scores.
static int32_t keyOf(float score) {
  const auto bits = std::bit_cast<int32_t>(score + 0.0F); // -0 equals 0
  return bits >= 0 ? bits : bits ^ std::numeric_limits<int32_t>::max();
}

void Ranking::setClasses(size_t count) {
  constexpr size_t maxEntries = 1 << 16, minCapacity = 1 << 10;
  classes.resize(count);
  capacity = std::max(minCapacity, maxEntries / std::max<size_t>(count, 1));
}

void Ranking::Scores::add(const Entry &entry, size_t capacity) {
  added.push_back(entry);
  if (added.size() > capacity / 4)
    settle(capacity);
}

void Ranking::Scores::add(const Scores &other, size_t capacity) {
  unordered += other.unordered;
  dropped = std::max(dropped, other.dropped);
  for (const std::vector<Entry> *list : {&other.entries, &other.added})
    for (const Entry &each : *list)
      add(each, capacity);
}

void Ranking::Scores::settle(size_t capacity) {
  entries.insert(entries.end(), added.begin(), added.end());
  added.clear();
  std::sort(entries.begin(), entries.end(),
            [](const Entry &one, const Entry &other) { return one.key < other.key; });
  while (true) {
    size_t count = 0;
    for (const Entry each : entries) { // A copy, since the list is compacted in place.
      const int32_t key = each.key >> dropped << dropped;
      if (count == 0 || entries[count - 1].key != key)
        entries[count++] = {key, 0, 0};
      entries[count - 1].positive += each.positive;
      entries[count - 1].negative += each.negative;
    }
    entries.resize(count);
    if (count <= capacity)
      return;
    ++dropped;
  }
}

void Ranking::add(size_t label, float score, bool isPositive) {
  if (std::isnan(score))
    ++classes[label].unordered;
  else
    classes[label].add({keyOf(score), isPositive ? 1 : 0, isPositive ? 0 : 1}, capacity);
}

void Ranking::add(const Ranking &other) {
  if (other.classes.empty())
    return;
  setClasses(other.classes.size());
  for (size_t i = 0; i < classes.size(); ++i)
    classes[i].add(other.classes[i], capacity);
}

template <typename Metric> double Ranking::meanOf(const Metric &metric) const {
  double sum = 0, count = 0;
  for (Scores scores : classes) {
    scores.settle(capacity);
    double positives = 0, negatives = 0;
    for (const Entry &each : scores.entries) {
      positives += static_cast<double>(each.positive);
      negatives += static_cast<double>(each.negative);
    }
    if (scores.unordered == 0 && (positives == 0 || negatives == 0))
      continue;
    sum += scores.unordered ? std::numeric_limits<double>::quiet_NaN()
                            : metric(scores.entries, positives, negatives);
    ++count;
  }
  return sum / count;
}

double Ranking::auc() const {
  return meanOf([](const std::vector<Entry> &entries, double positives, double negatives) {
    double below = 0, area = 0; // negatives with smaller scores
    for (const Entry &each : entries) {
      const auto equal = static_cast<double>(each.negative);
      area += static_cast<double>(each.positive) * (below + equal / 2);
      below += equal;
    }
    return area / positives / negatives;
  });
}

double Ranking::averagePrecision() const {
  return meanOf([](const std::vector<Entry> &entries, double positives, double /*negatives*/) {
    double found = 0, hits = 0, sum = 0;
    for (auto each = entries.rbegin(); each != entries.rend(); ++each) {
      const auto positive = static_cast<double>(each->positive);
      found += positive + static_cast<double>(each->negative);
      hits += positive;
      sum += positive * hits / found;
    }
    return sum / positives;
  });
}

void Ranking::write(std::vector<int64_t> &list) const {
  list.push_back(std::ssize(classes));
  for (Scores each : classes) {
    each.settle(capacity);
    list.insert(list.end(), {each.unordered, each.dropped, std::ssize(each.entries)});
    for (const Entry &entry : each.entries)
      list.insert(list.end(), {entry.key, entry.positive, entry.negative});
  }
}

std::span<const int64_t> Ranking::read(std::span<const int64_t> list) {
  auto next = [&list] {
    const int64_t number = list.front();
    list = list.subspan(1);
    return number;
  };
  Ranking other;
  other.setClasses(static_cast<size_t>(next()));
  for (Scores &scores : other.classes) {
    scores.unordered = next();
    scores.dropped = static_cast<int>(next());
    scores.entries.resize(static_cast<size_t>(next()));
    for (Entry &entry : scores.entries) {
      entry.key = static_cast<int32_t>(next());
      entry.positive = next();
      entry.negative = next();
    }
  }
  add(other);
  return list;
}

} // namespace mtc::runtime
