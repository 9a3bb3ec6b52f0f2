// The FLOP count of a contraction, and its dense form, with which profiles compare it.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_PLAIN_H
#define MTC_RUNTIME_CALLS_CONTRACTION_PLAIN_H

#include "runtime/abi/contraction.h"
#include "runtime/abi/operation.h"

#include <cstdint>
#include <cstring>

namespace mtc::runtime {

/// Returns the record of a contraction call; null for calls of another kind.
inline const MtcContraction *contractionOf(const MtcCall &call) {
  return std::strcmp(call.kind, MTC_CONTRACTION) == 0
             ? static_cast<const MtcContraction *>(call.description)
             : nullptr;
}

/// Returns whether the operands have one type and no scales.
inline bool isUniform(const MtcContraction &c) { return c.lhs_type == c.rhs_type && !c.has_scales; }

/// Returns the floating-point operations of a run: one multiplication and one addition per term.
inline double contractionFlops(const MtcContraction &c) {
  double flops =
      2.0 * static_cast<double>(c.m) * static_cast<double>(c.n) * static_cast<double>(c.k);
  for (uint32_t i = 0; i < c.batch_rank; ++i)
    flops *= static_cast<double>(c.batch[i]);
  return flops;
}

/// Returns the contraction of the same shape and types over dense row-major tensors with one batch
/// dimension and without accumulation, addends or epilogue: the form that libraries run fastest.
inline MtcContraction plainContraction(const MtcContraction &contraction) {
  MtcContraction plain = {};
  mtc_set_contraction_types(&plain, contraction.lhs_type);
  plain.rhs_type = contraction.rhs_type;
  plain.out_type = contraction.out_type;
  plain.product_type = contraction.product_type;
  plain.m = contraction.m;
  plain.n = contraction.n;
  plain.k = contraction.k;
  plain.batch_rank = 1;
  plain.batch[0] = 1;
  for (uint32_t i = 0; i < contraction.batch_rank; ++i)
    plain.batch[0] *= contraction.batch[i];
  auto fill = [](int64_t *strides, int64_t rows, int64_t columns) {
    strides[0] = rows * columns;
    strides[1] = columns;
    strides[2] = 1;
  };
  fill(plain.lhs_strides, plain.m, plain.k);
  fill(plain.rhs_strides, plain.k, plain.n);
  fill(plain.out_strides, plain.m, plain.n);
  return plain;
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_PLAIN_H
