//===- ContractionShape.h - A contraction as a library sees it --------------------------------===//

#ifndef MTC_PASSES_MEMORY_CONTRACTIONSHAPE_H
#define MTC_PASSES_MEMORY_CONTRACTIONSHAPE_H

#include "ir/Mtc.h"

#include <optional>

namespace mtc {

/// out[b.., m, n] = sum over k of lhs[b.., m, k] * rhs[b.., k, n], strides in elements, batch
/// dimensions first, then the two of the matrix.
struct ContractionShape {
  mlir::Type element;
  mlir::SmallVector<int64_t> batch;
  int64_t m = 1, n = 1, k = 1;
  mlir::SmallVector<int64_t> lhsStrides, rhsStrides, outStrides;
};

/// What a library would be asked for; nothing if an operand's axes cannot be seen as a matrix, in
/// which case `lhsFits` or `rhsFits` says which.
struct ContractionView {
  std::optional<ContractionShape> shape;
  bool lhsFits = true, rhsFits = true;
};
ContractionView viewContraction(ContractOp op);

} // namespace mtc

#endif // MTC_PASSES_MEMORY_CONTRACTIONSHAPE_H
