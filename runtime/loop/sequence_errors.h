// Errors of decoded sequences.
#ifndef MTC_RUNTIME_LOOP_SEQUENCE_ERRORS_H
#define MTC_RUNTIME_LOOP_SEQUENCE_ERRORS_H

#include <cstdint>
#include <span>
#include <vector>

namespace mtc::runtime {

/// Returns the labels of the best path of connectionist temporal classification: the classes of the
/// frames without repetitions, where a negative class (a blank) separates equal labels.
std::vector<int32_t> decodeFrames(std::span<const int32_t> frames);

/// Returns the edit distance of Levenshtein: the minimum number of insertions, deletions and
/// substitutions that change one sequence into the other.
int64_t editDistance(std::span<const int32_t> one, std::span<const int32_t> other);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_SEQUENCE_ERRORS_H
