#include "runtime/loop/target_values.h"

#include "runtime/abi/row_values.h"
#include "runtime/loop/sequence_errors.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

namespace mtc::runtime {
namespace {

/// Calls `visit` with each element of a value of the first `rows` rows.
template <typename Element, typename Visit>
void forEachElement(const StepScalars &scalars, const MtcRowValue &value, int64_t rows,
                    const Visit &visit) {
  constexpr auto size = static_cast<int64_t>(sizeof(Element));
  scalars.device.read(value.offset, rows * value.count * size,
                      [&](const char *from, int64_t, int64_t bytes) {
                        auto *elements = reinterpret_cast<const Element *>(from);
                        std::for_each(elements, elements + bytes / size, visit);
                      });
}

/// The elements of a value; none if the program does not compute it.
template <typename Element> struct Elements {
  Elements(const StepScalars &scalars, std::string_view name, int64_t rows) {
    const MtcRowValue *value = findRowValue(scalars.program, name);
    if (!value)
      return;
    count = value->count;
    list.reserve(static_cast<size_t>(rows * count));
    forEachElement<Element>(scalars, *value, rows, [this](Element each) { list.push_back(each); });
  }

  bool isKnown() const { return count > 0; }
  std::span<const Element> ofRow(int64_t row) const {
    return std::span(list).subspan(static_cast<size_t>(row * count), static_cast<size_t>(count));
  }

  std::vector<Element> list;
  int64_t count = 0; ///< of a row
};

/// Adds the best class of each target, and its probability.
void addPredictions(const std::vector<int32_t> &predicted, const std::vector<float> &confidence,
                    const std::vector<int32_t> &labels, MetricSums &sums) {
  for (size_t i = 0; i < predicted.size(); ++i) {
    if (labels[i] < 0)
      continue;
    sums.addTarget(predicted[i], labels[i]);
    if (!confidence.empty())
      sums.calibration.add(static_cast<double>(confidence[i]), predicted[i] == labels[i]);
  }
}

/// Adds the logits of targets of two classes.
void addScores(const std::vector<float> &scores, const std::vector<int32_t> &labels,
               MetricSums &sums) {
  sums.ranking.setClasses(1);
  for (size_t i = 0; i < scores.size(); ++i) {
    if (labels[i] < 0)
      continue;
    const bool isPositive = labels[i] == 1, isPredicted = scores[i] > 0;
    const double confidence = 1 / (1 + std::exp(-std::abs(static_cast<double>(scores[i]))));
    sums.calibration.add(confidence, isPredicted == isPositive);
    sums.ranking.add(0, scores[i], isPositive);
  }
}

/// Adds the scores of several classes, of which one is the label, or of several labels.
void addClassScores(std::span<const float> scores, std::span<const int32_t> labels,
                    MetricSums &sums) {
  const bool isOneLabel = labels.size() == 1;
  if (isOneLabel && labels.front() < 0)
    return;
  for (size_t i = 0; i < scores.size(); ++i)
    sums.ranking.add(i, scores[i],
                     isOneLabel ? labels.front() == static_cast<int32_t>(i) : labels[i] == 1);
}

/// Adds the errors and the number of labels of a sequence.
void addSequence(std::span<const int32_t> frames, std::span<const int32_t> labels,
                 MetricSums &sums) {
  const auto end =
      std::find_if(labels.begin(), labels.end(), [](int32_t each) { return each < 0; });
  const std::span<const int32_t> known(labels.begin(), end);
  sums.total(sequenceErrors).add(static_cast<double>(editDistance(decodeFrames(frames), known)));
  sums.total(sequenceLabels).add(static_cast<double>(known.size()));
}

} // namespace

void forEachFloat(const StepScalars &scalars, const MtcRowValue &value, int64_t rows,
                  const std::function<void(float)> &visit) {
  forEachElement<float>(scalars, value, rows, visit);
}

void addTargets(const StepScalars &scalars, int64_t rows, MetricSums &sums) {
  const Elements<int32_t> labels(scalars, abi::rowLabelClass, rows);
  if (const Elements<int32_t> predicted(scalars, abi::rowPredictedClass, rows);
      predicted.isKnown() && labels.isKnown())
    addPredictions(predicted.list, Elements<float>(scalars, abi::rowConfidence, rows).list,
                   labels.list, sums);
  if (const Elements<float> scores(scalars, abi::rowScore, rows); scores.isKnown())
    addScores(scores.list, labels.list, sums);
  if (const Elements<float> scores(scalars, abi::rowClassScores, rows); scores.isKnown()) {
    sums.ranking.setClasses(static_cast<size_t>(scores.count));
    for (int64_t row = 0; row < rows; ++row)
      addClassScores(scores.ofRow(row), labels.ofRow(row), sums);
  }
  if (const Elements<int32_t> frames(scalars, abi::rowFrameClass, rows); frames.isKnown()) {
    const Elements<int32_t> sequences(scalars, abi::rowSequenceLabel, rows);
    for (int64_t row = 0; row < rows; ++row)
      addSequence(frames.ofRow(row), sequences.ofRow(row), sums);
  }
}

} // namespace mtc::runtime
