//===- GlobalIterationEmitter.cpp - Kernel bodies of one thread, in short vectors -------------===//

#include "codegen/gpu/GlobalIterationEmitter.h"

#include "codegen/gpu/AccessAnalysis.h"
#include "codegen/kernels/Storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

void GlobalIterationEmitter::bindIteration(ArrayRef<unsigned> dims, Value position,
                                           const IterationVector &vector) {
  for (unsigned i = dims.size(); i-- > 0;) {
    unsigned dim = dims[i];
    bool inLanes = dim == vector.dim;
    int64_t extent = kernel.space[dim] / (inLanes ? vector.width : 1);
    Value digit = position;
    if (i > 0) {
      digit = arith::RemUIOp::create(b, position, index(extent));
      position = arith::DivUIOp::create(b, position, index(extent));
    }
    if (inLanes && vector.width > 1)
      bindLanes(dim, arith::MulIOp::create(b, digit, index(vector.width)), vector.width,
                vector.width);
    else
      bindDim(dim, digit);
  }
}

Value GlobalIterationEmitter::indexOfOthers() {
  KernelYieldOp yield = kernel.yield;
  LinearForm form = kernel.stores.front();
  for (unsigned dim = 0; dim < kernel.rank(); ++dim)
    if (contains(kernel.owned, dim))
      form.dims[dim] = 0;
  SmallVector<Value> symbols;
  for (Value symbol : yield.getSymbols())
    symbols.push_back(get(symbol));
  return offsetOf(form, symbols).uniform;
}

uint32_t GlobalIterationEmitter::alignmentOf(Type element) const {
  int64_t lanes = state.lanes;
  if (kernel.hasFixedOrder)
    lanes = std::min(lanes, vectorWidth(kernel, *state.lanesDim, /*exact=*/true));
  return std::min<int64_t>(lanes * elementBytes(element), 16);
}

Value GlobalIterationEmitter::readLanes(const LaneOffset &at, Value base, Type element,
                                        Value active) {
  Type storage = getStorageType(element), type = inLanes(storage);
  if (at.isContiguous() && !(active && isVector(active)))
    return readWhere(active, type, [&]() -> Value {
      return LLVM::LoadOp::create(b, type, pointer(base, element, at.uniform),
                                  alignmentOf(element));
    });
  Value all = offsets(at);
  Value result = arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type)));
  for (int64_t lane = 0; lane < state.lanes; ++lane) {
    Value offset = vector::ExtractOp::create(b, all, lane), here = active;
    if (active && isVector(active))
      here = vector::ExtractOp::create(b, active, lane);
    Value loaded = readWhere(here, storage, [&]() -> Value {
      return LLVM::LoadOp::create(b, storage, pointer(base, element, offset));
    });
    result = vector::InsertOp::create(b, loaded, result, lane);
  }
  return result;
}

void GlobalIterationEmitter::writeLanes(const LaneOffset &at, Value base, Type element,
                                        Value stored) {
  if (at.isContiguous()) {
    LLVM::StoreOp::create(b, stored, pointer(base, element, at.uniform), alignmentOf(element));
    return;
  }
  Value all = offsets(at);
  for (int64_t lane = 0; lane < state.lanes; ++lane) {
    Value offset = vector::ExtractOp::create(b, all, lane);
    LLVM::StoreOp::create(b, vector::ExtractOp::create(b, stored, lane),
                          pointer(base, element, offset));
  }
}

/// For an index i = lane + k, where k is a multiple of the number of lanes, i < c is uniform over
/// the lanes if and only if c is a multiple of the number of lanes, too.
Value GlobalIterationEmitter::emitSpecial(Operation *op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || !state.lanesDim)
    return {};
  auto found = kernel.indices.find(compare.getLhs().getDefiningOp());
  auto limit = compare.getRhs().getDefiningOp<arith::ConstantOp>();
  if (found == kernel.indices.end() || !limit)
    return {};
  const LinearForm &form = found->second;
  auto rest = dyn_cast<AffineConstantExpr>(form.rest);
  if (!rest || form.dims[*state.lanesDim] != 1)
    return {};
  int64_t threshold = cast<IntegerAttr>(limit.getValue()).getInt() - rest.getValue();
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sge:
    break;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::sgt:
    ++threshold;
    break;
  default:
    return {};
  }
  for (unsigned dim = 0; dim < kernel.rank(); ++dim)
    if (dim != *state.lanesDim && form.dims[dim] % state.lanes != 0)
      return {};
  if (threshold % state.lanes != 0)
    return {};
  Value first = offsetOf(form, {}).uniform;
  if (first.getType() != limit.getType())
    first = arith::ExtSIOp::create(b, limit.getType(), first);
  return arith::CmpIOp::create(b, compare.getPredicate(), first, get(compare.getRhs()));
}
