#include "runtime/loop/calibration.h"

#include <algorithm>
#include <cmath>

namespace mtc::runtime {

static constexpr double unit = 0x1p30;

void Calibration::add(double confidence, bool isCorrect) {
  if (!(confidence >= 0 && confidence <= 1))
    return;
  const auto upper = static_cast<int64_t>(std::ceil(confidence * std::ssize(bins)));
  Bin &bin = bins[static_cast<size_t>(std::max<int64_t>(upper - 1, 0))];
  ++bin.count;
  bin.correct += isCorrect ? 1 : 0;
  bin.confidence += std::llround(confidence * unit);
}

void Calibration::add(const Calibration &other) {
  for (size_t i = 0; i < bins.size(); ++i) {
    bins[i].count += other.bins[i].count;
    bins[i].correct += other.bins[i].correct;
    bins[i].confidence += other.bins[i].confidence;
  }
}

double Calibration::error() const {
  double total = 0, count = 0;
  for (const Bin &bin : bins) {
    total +=
        std::abs(static_cast<double>(bin.correct) - static_cast<double>(bin.confidence) / unit);
    count += static_cast<double>(bin.count);
  }
  return total / count;
}

} // namespace mtc::runtime
