//===- ReferenceContraction.cpp - Contraction by plain loops ----------------------------------===//

#include "codegen/ReferenceContraction.h"

#include "llvm/ADT/APFloat.h"

#include <cstring>

using namespace mtc;

namespace {

/// A 16-bit float as it lies in memory.
template <llvm::APFloat::Semantics kind> struct Float16 {
  uint16_t bits;
  Float16(double value) {
    llvm::APFloat number(value);
    bool losesInformation;
    number.convert(semantics(), llvm::APFloat::rmNearestTiesToEven, &losesInformation);
    bits = static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
  }
  operator double() const {
    return llvm::APFloat(semantics(), llvm::APInt(16, bits)).convertToDouble();
  }
  static const llvm::fltSemantics &semantics() { return llvm::APFloatBase::EnumToSemantics(kind); }
};

template <typename Element, typename Sum>
void contract(const MtcContraction &c, const char *lhsBytes, const char *rhsBytes, char *outBytes) {
  auto *lhs = reinterpret_cast<const Element *>(lhsBytes);
  auto *rhs = reinterpret_cast<const Element *>(rhsBytes);
  auto *out = reinterpret_cast<Element *>(outBytes);
  uint32_t r = c.batch_rank;
  int64_t batches = 1;
  for (uint32_t i = 0; i < r; ++i)
    batches *= c.batch[i];
  for (int64_t batch = 0; batch < batches; ++batch) {
    int64_t rest = batch, l0 = 0, r0 = 0, o0 = 0;
    for (uint32_t i = r; i-- > 0; rest /= c.batch[i]) {
      int64_t index = rest % c.batch[i];
      l0 += index * c.lhs_strides[i];
      r0 += index * c.rhs_strides[i];
      o0 += index * c.out_strides[i];
    }
    for (int64_t m = 0; m < c.m; ++m)
      for (int64_t n = 0; n < c.n; ++n) {
        Sum sum = 0;
        for (int64_t k = 0; k < c.k; ++k)
          sum += static_cast<Sum>(lhs[l0 + m * c.lhs_strides[r] + k * c.lhs_strides[r + 1]]) *
                 static_cast<Sum>(rhs[r0 + k * c.rhs_strides[r] + n * c.rhs_strides[r + 1]]);
        Element &result = out[o0 + m * c.out_strides[r] + n * c.out_strides[r + 1]];
        if (c.accumulate)
          sum += static_cast<Sum>(result);
        result = static_cast<Element>(sum);
      }
  }
}

} // namespace

bool mtc::contractByLoops(const MtcContraction &c, const char *lhs, const char *rhs, char *out) {
  switch (c.type) {
  case MTC_F64:
    contract<double, double>(c, lhs, rhs, out);
    return true;
  case MTC_F32:
    contract<float, double>(c, lhs, rhs, out);
    return true;
  case MTC_BF16:
    contract<Float16<llvm::APFloat::S_BFloat>, double>(c, lhs, rhs, out);
    return true;
  case MTC_F16:
    contract<Float16<llvm::APFloat::S_IEEEhalf>, double>(c, lhs, rhs, out);
    return true;
  case MTC_I64:
    contract<int64_t, int64_t>(c, lhs, rhs, out);
    return true;
  case MTC_I32:
    contract<int32_t, int32_t>(c, lhs, rhs, out);
    return true;
  default:
    return false;
  }
}
