/* Names of the values per sample that `evaluate` computes (MtcRowMetrics). A loss of the compiler
 * produces some of them, and the runtime computes metrics from their sums. */
#ifndef MTC_RUNTIME_ABI_ROW_VALUES_H
#define MTC_RUNTIME_ABI_ROW_VALUES_H

#include <cstdint>
#include <string_view>

namespace mtc::abi {

/// The compiler's results of `evaluate` have these names with a prefix.
inline constexpr char rowPrefix[] = "mtc.row_";

/// Sums over the targets of a sample.
inline constexpr char rowLoss[] = "loss", ///< losses, times the weights of the targets
    rowWeight[] = "weight",               ///< weights of the targets, 0 for ignored ones
    rowTargets[] = "targets",             ///< targets that are not ignored; absent: as `weight`
    rowCorrect[] = "correct",             ///< correctly classified targets
    rowTop5[] = "top5_correct",           ///< targets whose class has one of the 5 largest scores
    rowLogLikelihood[] = "negative_log_likelihood", ///< without class weights and smoothing
    rowAbsoluteError[] = "absolute_error", rowSquaredError[] = "squared_error",
                      rowLabelMean[] = "label_mean", ///< mean of the labels
    rowLabelDeviation[] = "label_deviation"; ///< squared differences of the labels from their mean

/// Numbers of positive targets among two classes: those that are predicted and labelled as
/// positive, those that are predicted so, and those that are labelled so.
struct PositiveNames {
  const char *hits, *predicted, *labelled;
};
inline constexpr PositiveNames rowPositives{"true_positives", "predicted_positives", "positives"};
/// The same numbers over several labels per sample.
inline constexpr PositiveNames rowMicroPositives{"micro_true_positives",
                                                 "micro_predicted_positives", "micro_positives"};

/// Classes of each target: the one with the largest score, and the label; -1 for ignored targets.
inline constexpr char rowPredictedClass[] = "predicted_class", rowLabelClass[] = "label_class";

/// Floats of each target, which are kept instead of added: the probability of the predicted class;
/// of two classes, the logit of the second one, whose label is 1; of several classes or labels, the
/// score of each of them.
inline constexpr char rowConfidence[] = "confidence", rowScore[] = "score",
                      rowClassScores[] = "class_scores";
/// Maximum numbers of `rowScore` and `rowClassScores` of a sample.
inline constexpr int64_t maxScores = 1024, maxClassScores = 128;

/// The class with the largest score of each frame, -1 for blanks and frames after the input's
/// length; and the labels of a sequence, -1 for padding.
inline constexpr char rowFrameClass[] = "frame_class", rowSequenceLabel[] = "sequence_label";

/// Returns whether a value of floats is kept for each target.
inline bool isKept(std::string_view name) {
  return name == rowConfidence || name == rowScore || name == rowClassScores;
}

} // namespace mtc::abi

#endif // MTC_RUNTIME_ABI_ROW_VALUES_H
