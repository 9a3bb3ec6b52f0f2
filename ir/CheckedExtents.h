//===- CheckedExtents.h - Arithmetic on extents that may not fit into 64 bits -----------------===//

#ifndef MTC_IR_CHECKEDEXTENTS_H
#define MTC_IR_CHECKEDEXTENTS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace mtc {

/// Returns the product of factors that are at least 0, or INT64_MAX if it does not fit.
int64_t saturatingProduct(llvm::ArrayRef<int64_t> factors);

/// Returns the sum of terms that are at least 0, or INT64_MAX if it does not fit.
int64_t saturatingSum(llvm::ArrayRef<int64_t> terms);

/// Returns whether a tensor of at most 16 bytes per element is addressable in 64 bits: extents and
/// strides are at least 0, and the number of its elements and the index of its last element fit.
bool isAddressable(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> strides = {});

} // namespace mtc

#endif // MTC_IR_CHECKEDEXTENTS_H
