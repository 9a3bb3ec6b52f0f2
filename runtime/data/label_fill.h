// Labels that are not read from a file.
#ifndef MTC_RUNTIME_DATA_LABEL_FILL_H
#define MTC_RUNTIME_DATA_LABEL_FILL_H

#include "runtime/abi/program.h"

#include <cstdint>

namespace mtc::runtime {

/// Fills elements [first, first + count) with the value that losses ignore. Labels that are not
/// integers are filled with zeros, which must not be used.
void ignoreLabels(const MtcInput &labels, int64_t first, int64_t count, char *to);

/// Fills the last `rows` entries of dims[0] by `ignoreLabels`.
void fillIgnored(const MtcInput &labels, int64_t rows, char *to);

/// Returns whether labels can exclude a sample from the loss: they are class indices, which are not
/// padded, and whose type can represent the ignored value.
bool canIgnore(const MtcInput &input);

/// Returns whether an input has the weights of samples in the loss (--loss-weights).
bool isLossWeights(const MtcInput &input);

/// Sets all weights of samples to 1.
void fillLossWeights(const MtcInput &input, char *to);

/// Excludes the last `rows` samples from the loss, if the input can: ignores their labels, or sets
/// their weights to 0.
void excludeSamples(const MtcInput &input, int64_t rows, char *to);

/// Computes labels[.., t] = tokens[.., t + 1]; the last label of each sequence is ignored. Both
/// tensors have the same shape.
void shiftTokens(const MtcInput &tokens, const char *from, const MtcInput &labels, char *to);

/// Returns the index of the input whose zeros mark padding: `attention_mask`, if it has the shape
/// of the labels. -1 if there is none.
int32_t findPaddingMask(const MtcProgram &program, const MtcInput &labels);

/// Ignores labels[.., t] where mask[.., t + 1] is 0: the next token is padding. Both tensors have
/// the same shape.
void ignorePadding(const MtcInput &mask, const char *from, const MtcInput &labels, char *to);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_LABEL_FILL_H
