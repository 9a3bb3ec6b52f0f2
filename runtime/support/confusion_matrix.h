// Numbers of targets by label and prediction.
#ifndef MTC_RUNTIME_SUPPORT_CONFUSION_MATRIX_H
#define MTC_RUNTIME_SUPPORT_CONFUSION_MATRIX_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Precision, recall and F1 of a class; a quotient of 0 by 0 is 0.
struct ClassScores {
  double precision = 0, recall = 0, f1 = 0;
  int64_t labelled = 0; ///< targets with the class as label
};

/// The matrix has a row for each label and a column for each prediction, up to the largest class
/// that occurs.
class ConfusionMatrix {
public:
  /// If a larger class occurs, the matrix stays empty.
  static constexpr int64_t maxClasses = 1000;

  ConfusionMatrix() = default;
  /// The matrix is empty if the number of counts is not the square of at most `maxClasses`.
  explicit ConfusionMatrix(std::vector<int64_t> counts);

  void add(int64_t label, int64_t predicted, int64_t count = 1);
  void add(const ConfusionMatrix &other);

  /// Returns the number of rows; 0 if no target has been added.
  int64_t classes() const { return size; }
  int64_t at(int64_t label, int64_t predicted) const {
    return numbers[static_cast<size_t>(label * size + predicted)];
  }
  const std::vector<int64_t> &counts() const { return numbers; } ///< by row
  ClassScores scoresOf(int64_t label) const;

  /// Append the matrix to a list of numbers, and read the one at the start of such a list, whose
  /// rest is returned.
  void write(std::vector<int64_t> &list) const;
  std::span<const int64_t> read(std::span<const int64_t> list);

  /// Adds rows and columns of zeros up to this number.
  void growTo(int64_t classes);

private:
  int64_t size = 0;
  bool isTooLarge = false;
  std::vector<int64_t> numbers;
};

/// Returns the name of a class: its number if `names` has none.
std::string classNameOf(const std::vector<std::string> &names, int64_t label);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_CONFUSION_MATRIX_H
