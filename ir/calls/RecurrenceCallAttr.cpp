//===- RecurrenceCallAttr.cpp - Attribute of calls of recurrent layers ------------------------===//

#include "ir/CheckedExtents.h"
#include "ir/Mtc.h"
#include "ir/calls/CallRecordText.h"

using namespace mlir;
using namespace mtc;

template <typename Record, typename Visitor>
static constexpr void visitFields(Record &r, Visitor &&visit) {
  visit("type", r.type, typeWords);
  visit("cell", r.cell, enumWords<RecurrentCell>);
  visit("is_reversed", r.is_reversed);
  visit("is_in_place", r.is_in_place);
  visit("has_d_auxiliary", r.has_d_auxiliary);
  visit("unused", r.unused);
  visit("steps", r.steps);
  visit("batch", r.batch);
  visit("hidden", r.hidden);
}

static_assert(visitsAll<MtcRecurrence>([](auto &record, auto &visit) {
  visitFields(record, visit);
}));

void mtc::printRecord(AsmPrinter &printer, const MtcRecurrence &record) {
  visitFields(record, FieldPrinter(printer));
}

ParseResult mtc::parseRecord(AsmParser &parser, MtcRecurrence &record) {
  return parseFields(parser, [&](FieldParserOf &field) { visitFields(record, field); });
}

static RecurrentCell cellOf(const MtcRecurrence &r) { return static_cast<RecurrentCell>(r.cell); }
static bool isLstm(const MtcRecurrence &r) { return r.cell == MTC_LSTM; }
static bool isResetAfter(const MtcRecurrence &r) { return r.cell == MTC_GRU_RESET_AFTER; }
static bool hasAuxiliary(const MtcRecurrence &r) { return mtc_recurrence_has_auxiliary(r.cell); }
static int64_t gatesOf(const MtcRecurrence &r) { return mtc_recurrence_gates(r.cell); }

static LogicalResult verifyRecord(function_ref<InFlightDiagnostic()> emitError,
                                  const MtcRecurrence &r, bool isGradient) {
  if (r.steps < 1 || (r.has_d_auxiliary && !(isGradient && isLstm(r))))
    return emitError() << "has " << r.steps << " steps of " << stringifyRecurrentCell(cellOf(r))
                       << ", expected at least one step, and d_auxiliary only for the gradient of "
                          "lstm (recurrence_call_c1)";
  if (!isAddressable({gatesOf(r), r.steps, r.batch, r.hidden}) ||
      !isAddressable({gatesOf(r), r.hidden, r.hidden}))
    return emitError() << "has extents that are negative or that 64 bits cannot address "
                          "(recurrence_call_c2)";
  return success();
}

LogicalResult RecurrenceCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                         CallRecord<MtcRecurrence> record) {
  return verifyRecord(emitError, *record, /*isGradient=*/false);
}

LogicalResult RecurrenceGradientCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                                 CallRecord<MtcRecurrence> record) {
  return verifyRecord(emitError, *record, /*isGradient=*/true);
}

//===------------------------------------------------------------------------------------------===//
// Operands and results
//===------------------------------------------------------------------------------------------===//

namespace {

struct Tensors {
  explicit Tensors(const MtcRecurrence &r)
      : gates{r.type, gatesOf(r) * r.steps * r.batch * r.hidden},
        weights{r.type, gatesOf(r) * r.hidden * r.hidden},
        states{r.type, r.steps * r.batch * r.hidden}, state{r.type, r.batch * r.hidden},
        bias{r.type, r.hidden} {}

  CallShapes::Shape gates, weights, states, state, bias;
};

} // namespace

CallShapes RecurrenceCallAttr::getShapes() const {
  const MtcRecurrence &r = *getRecord();
  Tensors tensors(r);
  CallShapes shapes = {{}, {tensors.gates, tensors.states}};
  if (!r.is_in_place)
    shapes.operands.push_back(tensors.gates);
  shapes.operands.append({tensors.weights, tensors.state});
  if (isLstm(r))
    shapes.operands.push_back(tensors.state);
  if (isResetAfter(r))
    shapes.operands.push_back(tensors.bias);
  if (hasAuxiliary(r))
    shapes.results.push_back(tensors.states);
  return shapes;
}

CallShapes RecurrenceGradientCallAttr::getShapes() const {
  const MtcRecurrence &r = *getRecord();
  Tensors tensors(r);
  CallShapes shapes = {{}, {tensors.gates, tensors.state}};
  if (!r.is_in_place)
    shapes.operands.push_back(tensors.gates);
  shapes.operands.append({tensors.weights, tensors.states});
  if (hasAuxiliary(r))
    shapes.operands.push_back(tensors.states);
  shapes.operands.push_back(tensors.state);
  if (isLstm(r))
    shapes.operands.push_back(tensors.state);
  shapes.operands.push_back(tensors.states);
  if (r.has_d_auxiliary)
    shapes.operands.push_back(tensors.states);
  if (isLstm(r))
    shapes.results.push_back(tensors.state);
  if (isResetAfter(r))
    shapes.results.push_back(tensors.states);
  return shapes;
}

//===------------------------------------------------------------------------------------------===//
// Cost
//===------------------------------------------------------------------------------------------===//

/// Counts the multiplications with the weights, and a dozen operations for each gate.
static Cost costOf(const MtcRecurrence &r, const CallShapes &shapes) {
  constexpr int64_t flopsOfGate = 12;
  Cost cost;
  for (const CallShapes::Shape &shape :
       llvm::concat<const CallShapes::Shape>(shapes.operands, shapes.results))
    cost.bytes += *shape.elements * mtc_type_bytes(shape.type);
  const int64_t gates = gatesOf(r) * r.steps * r.batch * r.hidden;
  cost.flops = saturatingProduct({gates, 2 * r.hidden + flopsOfGate});
  cost.functions = gates;
  return cost;
}

/// Returns the multiplication of the forward pass of one step; that of the backward pass has as
/// many operations.
static MatrixProduct productOf(const MtcRecurrence &r) {
  const int64_t ofStep = r.cell == MTC_GRU ? 2 : 1; // The candidate depends on the reset gate.
  return {.m = r.batch,
          .n = gatesOf(r) * r.hidden,
          .k = r.hidden,
          .type = r.type,
          .isExact = true,
          .inSequence = ofStep * r.steps};
}

MatrixProduct RecurrenceCallAttr::getProduct() const { return productOf(*getRecord()); }

MatrixProduct RecurrenceGradientCallAttr::getProduct() const { return productOf(*getRecord()); }

Cost RecurrenceCallAttr::getCost() const { return costOf(*getRecord(), getShapes()); }

Cost RecurrenceGradientCallAttr::getCost() const { return costOf(*getRecord(), getShapes()); }
