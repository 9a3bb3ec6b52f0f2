//===- CheckedExtents.cpp - Arithmetic on extents that may not fit into 64 bits ---------------===//

#include "ir/CheckedExtents.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mtc;

int64_t mtc::saturatingProduct(llvm::ArrayRef<int64_t> factors) {
  if (llvm::is_contained(factors, 0))
    return 0;
  int64_t product = 1;
  for (int64_t factor : factors) {
    std::optional<int64_t> next = llvm::checkedMul(product, factor);
    if (!next)
      return INT64_MAX;
    product = *next;
  }
  return product;
}

int64_t mtc::saturatingSum(llvm::ArrayRef<int64_t> terms) {
  int64_t sum = 0;
  for (int64_t term : terms) {
    std::optional<int64_t> next = llvm::checkedAdd(sum, term);
    if (!next)
      return INT64_MAX;
    sum = *next;
  }
  return sum;
}

bool mtc::isAddressable(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> strides) {
  constexpr int64_t maximum = INT64_MAX / 16;
  auto isNegative = [](int64_t value) { return value < 0; };
  if (llvm::any_of(extents, isNegative) || llvm::any_of(strides, isNegative) ||
      saturatingProduct(extents) > maximum)
    return false;
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip(extents, strides))
    last = saturatingSum({last, saturatingProduct({std::max<int64_t>(extent - 1, 0), stride})});
  return last < maximum;
}
