// Calibration of predicted probabilities.
#ifndef MTC_RUNTIME_LOOP_CALIBRATION_H
#define MTC_RUNTIME_LOOP_CALIBRATION_H

#include <array>
#include <cstdint>

namespace mtc::runtime {

/// Counts predictions by their confidence, the probability of the predicted class, in 15 intervals
/// (lower, upper] of equal width. Sums are integers, so that they do not depend on their order.
class Calibration {
public:
  struct Bin {
    int64_t count = 0, correct = 0;
    int64_t confidence = 0; ///< sum of confidences in units of 2^-30
  };

  void add(double confidence, bool isCorrect);
  void add(const Calibration &other);

  /// Returns the expected calibration error of Guo et al., "On Calibration of Modern Neural
  /// Networks", 2017: the mean over all predictions of the difference between accuracy and mean
  /// confidence of their interval. Not a number without predictions.
  double error() const;

  std::array<Bin, 15> bins;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_CALIBRATION_H
