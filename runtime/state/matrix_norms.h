// Norms of matrices, for adapters with a magnitude (DoRA).
#ifndef MTC_RUNTIME_STATE_MATRIX_NORMS_H
#define MTC_RUNTIME_STATE_MATRIX_NORMS_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace mtc::runtime {

/// Returns the Euclidean norms of a matrix of floats over `axis`, computed in f64. `change`, unless
/// it is empty, returns what is added to an element, numbered in row-major order.
std::vector<double> normsOver(uint32_t axis, const MtcTensor &matrix,
                              const std::vector<char> &value,
                              const std::function<double(int64_t)> &change = {});

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_MATRIX_NORMS_H
