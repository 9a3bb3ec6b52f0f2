// Compression of frozen matrices.
#ifndef MTC_RUNTIME_STATE_FROZEN_MATRIX_H
#define MTC_RUNTIME_STATE_FROZEN_MATRIX_H

#include "runtime/abi/program.h"

#include <vector>

namespace mtc::runtime {

/// Returns the compressed form of a value, given the bytes of its f32 elements: see
/// runtime/abi/storage.h. Codes and scales equal those of bitsandbytes 0.50 (`quantize_4bit` of its
/// CPU backend).
std::vector<char> storeFrozen(const MtcVariable &variable, const std::vector<char> &value,
                              int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_FROZEN_MATRIX_H
