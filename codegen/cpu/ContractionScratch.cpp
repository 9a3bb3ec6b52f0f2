//===- ContractionScratch.cpp - Scratch of the CPU's contraction library ----------------------===//

#include "codegen/cpu/ContractionScratch.h"

#include "runtime/abi/contraction.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mtc;

int64_t mtc::cpuContractionScratch(const ContractionShape &shape, unsigned threads) {
  MtcContraction contraction = {};
  contraction.type = shape.element.isBF16()  ? MTC_BF16
                     : shape.element.isF16() ? MTC_F16
                     : shape.element.isF64() ? MTC_F64
                                             : MTC_F32;
  contraction.batch_rank = shape.batch.size();
  llvm::copy(shape.batch, contraction.batch);
  contraction.m = shape.m;
  contraction.n = shape.n;
  contraction.k = shape.k;
  llvm::copy(shape.lhsStrides, contraction.lhs_strides);
  llvm::copy(shape.rhsStrides, contraction.rhs_strides);
  llvm::copy(shape.outStrides, contraction.out_strides);
  return mtc_contraction_scratch_bytes(&contraction, threads);
}
