//===- PartialResults.cpp - Partial reduction results of split rows ---------------------------===//

#include "codegen/gpu/PartialResults.h"

#include "codegen/kernels/Storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

static int64_t lanesOf(const NormalKernel &kernel, const ReductionPlan &plan,
                       KernelReduceOp reduce) {
  return plan.lanesOf(kernel.values.lookup(reduce.getResult()).dims);
}

static int64_t arrayBytes(const NormalKernel &kernel, const ReductionPlan &plan,
                          KernelReduceOp reduce) {
  int64_t element = elementBytes(reduce.getType()) * lanesOf(kernel, plan, reduce);
  return llvm::alignTo(plan.splits * plan.rows * element, 16);
}

int64_t PartialResults::bytes(const NormalKernel &kernel, const ReductionPlan &plan) {
  int64_t sum = 0;
  if (plan.splits > 1)
    for (KernelReduceOp reduce : kernel.reductions)
      sum += arrayBytes(kernel, plan, reduce);
  return sum;
}

Type PartialResults::type(KernelReduceOp reduce) const {
  int64_t lanes = lanesOf(kernel, plan, reduce);
  return lanes == 1 ? reduce.getType() : VectorType::get({lanes}, reduce.getType());
}

Value PartialResults::address(KernelReduceOp reduce, Value split, Value row) {
  int64_t offset = 0;
  for (KernelReduceOp before : kernel.reductions) {
    if (before == reduce)
      break;
    offset += arrayBytes(kernel, plan, before);
  }
  Value base = LLVM::GEPOp::create(b, scratch.getType(), b.getI8Type(), scratch,
                                   ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  Value rows = arith::ConstantOp::create(b, b.getIntegerAttr(split.getType(), plan.rows));
  Value position = arith::AddIOp::create(b, arith::MulIOp::create(b, split, rows), row);
  Type element = withShapeOf(getStorageType(reduce.getType()), type(reduce));
  return LLVM::GEPOp::create(b, base.getType(), element, base, position);
}

Value PartialResults::read(KernelReduceOp reduce, Value split, Value row) {
  Type storage = withShapeOf(getStorageType(reduce.getType()), type(reduce));
  Value stored = LLVM::LoadOp::create(b, storage, address(reduce, split, row));
  return fromStorage(b, stored, reduce.getType());
}

void PartialResults::write(KernelReduceOp reduce, Value split, Value row, Value value) {
  LLVM::StoreOp::create(b, toStorage(b, value, reduce.getType()), address(reduce, split, row));
}
