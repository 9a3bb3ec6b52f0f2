// Names of inputs that have a meaning for mtc.
#ifndef MTC_RUNTIME_ABI_INPUT_NAMES_H
#define MTC_RUNTIME_ABI_INPUT_NAMES_H

namespace mtc {

/// The mask of tokens in Hugging Face's models: 0 for padding.
inline constexpr const char *paddingMaskName = "attention_mask";

/// The weight of each sample in the loss (--loss-weights); all are 1 without data.
inline constexpr const char *lossWeightsName = "loss_weights";

} // namespace mtc

#endif // MTC_RUNTIME_ABI_INPUT_NAMES_H
