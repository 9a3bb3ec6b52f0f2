//===- RecurrenceCall.cpp - Recurrent layers as library calls ---------------------------------===//

#include "ir/Mtc.h"
#include "ir/TypeCode.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"
#include "ir/ops/NaturalOrder.h"

using namespace mlir;
using namespace mtc;

static_assert(static_cast<int>(RecurrentCell::Lstm) == MTC_LSTM &&
              static_cast<int>(RecurrentCell::Gru) == MTC_GRU &&
              static_cast<int>(RecurrentCell::GruResetAfter) == MTC_GRU_RESET_AFTER &&
              static_cast<int>(RecurrentCell::Tanh) == MTC_RNN_TANH &&
              static_cast<int>(RecurrentCell::Relu) == MTC_RNN_RELU);

/// Fills in the record of both calls. `accumulated` is the first operand, or nothing.
template <typename Op> static MtcRecurrence describe(Op op, std::optional<unsigned> accumulated) {
  MtcRecurrence r = {};
  ArrayRef<int64_t> shape = shapeOf(op.getStates());
  r.type = typeCode(typeOf(op.getStates()).getElementType());
  r.cell = static_cast<uint32_t>(op.getKind());
  r.is_reversed = op.getReversed();
  r.is_in_place = accumulated.has_value();
  r.steps = shape[0];
  r.batch = shape[1];
  r.hidden = shape[2];
  return r;
}

/// Returns whether the elements are in row-major order without gaps; the strides of axes with one
/// index do not matter.
static bool isContiguous(Value value, ArrayRef<int64_t> strides) {
  ArrayRef<int64_t> shape = shapeOf(value);
  return llvm::all_of(llvm::zip_equal(shape, strides, rowMajorStrides(shape)), [](auto axis) {
    auto [extent, stride, dense] = axis;
    return extent == 1 || stride == dense;
  });
}

/// Returns whether a target's library, or its own implementation, may support the element type.
static bool isCall(Value value) {
  Type element = typeOf(value).getElementType();
  return element.isF32() || element.isF64();
}

//===------------------------------------------------------------------------------------------===//
// mtc.recurrence
//===------------------------------------------------------------------------------------------===//

Cost RecurrenceOp::getCost() { return describeCall(std::nullopt).getCost(); }

bool RecurrenceOp::isLibraryCall() { return isCall(getGates()); }

bool RecurrenceOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return isContiguous(getOperand(operand), strides);
}

SmallVector<int64_t> RecurrenceOp::getDenseOrder(unsigned operand) {
  return naturalOrder(*this, operand);
}

CallAttrInterface RecurrenceOp::describeCall(std::optional<unsigned> accumulated) {
  return RecurrenceCallAttr::get(getContext(), describe(*this, accumulated));
}

Operation *RecurrenceOp::buildAdding(OpBuilder &, Value) { return nullptr; }

Operation *RecurrenceOp::buildActivated(OpBuilder &, Activation, bool, Value) { return nullptr; }

Operation *RecurrenceOp::buildSumming(OpBuilder &, Value, ArrayRef<int64_t>) { return nullptr; }

bool RecurrenceOp::mayAccumulate(unsigned operand) { return operand == 0; }

//===------------------------------------------------------------------------------------------===//
// mtc.recurrence_gradient
//===------------------------------------------------------------------------------------------===//

Cost RecurrenceGradientOp::getCost() { return describeCall(std::nullopt).getCost(); }

bool RecurrenceGradientOp::isLibraryCall() { return isCall(getActivations()); }

bool RecurrenceGradientOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return isContiguous(getOperand(operand), strides);
}

SmallVector<int64_t> RecurrenceGradientOp::getDenseOrder(unsigned operand) {
  return naturalOrder(*this, operand);
}

CallAttrInterface RecurrenceGradientOp::describeCall(std::optional<unsigned> accumulated) {
  MtcRecurrence r = describe(*this, accumulated);
  r.has_d_auxiliary = getDAuxiliary() != nullptr;
  return RecurrenceGradientCallAttr::get(getContext(), r);
}

Operation *RecurrenceGradientOp::buildAdding(OpBuilder &, Value) { return nullptr; }

Operation *RecurrenceGradientOp::buildActivated(OpBuilder &, Activation, bool, Value) {
  return nullptr;
}

Operation *RecurrenceGradientOp::buildSumming(OpBuilder &, Value, ArrayRef<int64_t>) {
  return nullptr;
}

bool RecurrenceGradientOp::mayAccumulate(unsigned operand) { return operand == 0; }
