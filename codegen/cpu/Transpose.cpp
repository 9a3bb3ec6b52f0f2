//===- Transpose.cpp - Transposition of vectors in registers ----------------------------------===//

#include "codegen/cpu/Transpose.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

/// Swaps off-diagonal blocks of 1, 2, 4, ... elements (Eklundh, "A Fast Computer Method for Matrix
/// Transposing", 1972).
void mtc::cpu::transposeSquare(ImplicitLocOpBuilder &b, MutableArrayRef<Value> vectors) {
  int64_t size = vectors.size();
  for (int64_t block = 1; block < size; block *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < size; ++i) {
      bool isOdd = i & block;
      low.push_back(isOdd ? size + i - block : i);
      high.push_back(isOdd ? size + i : i + block);
    }
    for (int64_t i = 0; i < size; ++i) {
      if (i & block)
        continue;
      Value first = vectors[i], second = vectors[i + block];
      vectors[i] = vector::ShuffleOp::create(b, first, second, low);
      vectors[i + block] = vector::ShuffleOp::create(b, first, second, high);
    }
  }
}
