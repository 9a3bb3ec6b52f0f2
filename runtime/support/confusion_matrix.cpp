#include "runtime/support/confusion_matrix.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mtc::runtime {

ConfusionMatrix::ConfusionMatrix(std::vector<int64_t> counts) {
  const int64_t root = std::llround(std::sqrt(static_cast<double>(counts.size())));
  if (root > maxClasses || root * root != std::ssize(counts))
    return;
  size = root;
  numbers = std::move(counts);
}

void ConfusionMatrix::growTo(int64_t classes) {
  if (classes <= size)
    return;
  std::vector<int64_t> grown(static_cast<size_t>(classes * classes));
  for (int64_t row = 0; row < size; ++row)
    std::copy_n(numbers.begin() + row * size, size, grown.begin() + row * classes);
  numbers = std::move(grown);
  size = classes;
}

void ConfusionMatrix::add(int64_t label, int64_t predicted, int64_t count) {
  const int64_t largest = std::max(label, predicted);
  if (largest >= maxClasses) {
    *this = {};
    isTooLarge = true;
  }
  if (isTooLarge)
    return;
  growTo(largest + 1);
  numbers[static_cast<size_t>(label * size + predicted)] += count;
}

void ConfusionMatrix::add(const ConfusionMatrix &other) {
  if (other.isTooLarge)
    add(maxClasses, maxClasses);
  for (int64_t label = 0; label < other.size; ++label)
    for (int64_t predicted = 0; predicted < other.size; ++predicted)
      if (const int64_t count = other.at(label, predicted))
        add(label, predicted, count);
}

void ConfusionMatrix::write(std::vector<int64_t> &list) const {
  list.push_back(isTooLarge ? -1 : size);
  list.insert(list.end(), numbers.begin(), numbers.end());
}

std::span<const int64_t> ConfusionMatrix::read(std::span<const int64_t> list) {
  isTooLarge = list.front() < 0;
  size = isTooLarge ? 0 : list.front();
  list = list.subspan(1);
  const auto count = static_cast<size_t>(size * size);
  numbers.assign(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count));
  return list.subspan(count);
}

ClassScores ConfusionMatrix::scoresOf(int64_t label) const {
  ClassScores scores;
  int64_t predicted = 0;
  for (int64_t other = 0; other < size; ++other) {
    scores.labelled += at(label, other);
    predicted += at(other, label);
  }
  const auto hits = static_cast<double>(at(label, label));
  auto ratio = [](double part, int64_t of) { return of ? part / static_cast<double>(of) : 0; };
  scores.precision = ratio(hits, predicted);
  scores.recall = ratio(hits, scores.labelled);
  scores.f1 = ratio(2 * hits, predicted + scores.labelled);
  return scores;
}

std::string classNameOf(const std::vector<std::string> &names, int64_t label) {
  const auto index = static_cast<size_t>(label);
  return index < names.size() ? names[index] : std::to_string(label);
}

} // namespace mtc::runtime
