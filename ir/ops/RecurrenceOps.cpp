//===- RecurrenceOps.cpp - Recurrent layers: verifiers and gradient ---------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mtc;

int64_t RecurrenceOp::gatesOf(RecurrentCell kind) {
  return mtc_recurrence_gates(static_cast<uint32_t>(kind));
}

bool RecurrenceOp::hasAuxiliary(RecurrentCell kind) {
  return mtc_recurrence_has_auxiliary(static_cast<uint32_t>(kind));
}

//===------------------------------------------------------------------------------------------===//
// Constraints
//===------------------------------------------------------------------------------------------===//

namespace {

/// The extents of the operands and results of an operation, from its gates.
struct Layer {
  SmallVector<int64_t> gates, weights, states, state;

  /// Returns nothing if the gates are not [T, B, G * H] with at least one step.
  static std::optional<Layer> of(RecurrentCell kind, Value gates) {
    ArrayRef<int64_t> shape = shapeOf(gates);
    const int64_t count = RecurrenceOp::gatesOf(kind);
    if (shape.size() != 3 || shape[0] < 1 || shape[2] % count != 0)
      return std::nullopt;
    const int64_t steps = shape[0], batch = shape[1], hidden = shape[2] / count;
    return Layer{
        llvm::to_vector(shape), {count * hidden, hidden}, {steps, batch, hidden}, {batch, hidden}};
  }
};

} // namespace

/// Returns whether an optional value is present exactly where expected, with these extents.
static bool fits(Value value, bool isExpected, ArrayRef<int64_t> shape) {
  return value ? isExpected && shapeOf(value) == shape : !isExpected;
}

/// Verifies recurrence_c1.
template <typename Op> static FailureOr<Layer> verifyLayer(Op op, Value gates) {
  std::optional<Layer> layer = Layer::of(op.getKind(), gates);
  if (layer && fits(op.getWeights(), true, layer->weights) &&
      fits(op.getState(), true, layer->state))
    return *layer;
  return op.emitOpError() << "gates, weights and state have extents " << toText(shapeOf(gates))
                          << ", " << toText(shapeOf(op.getWeights())) << " and "
                          << toText(shapeOf(op.getState())) << ", expected [T, B, G * H], [G * H, "
                          << "H] and [B, H] with G = " << RecurrenceOp::gatesOf(op.getKind())
                          << " and T > 0 (recurrence_c1)";
}

LogicalResult RecurrenceOp::verify() {
  FailureOr<Layer> layer = verifyLayer(*this, getGates());
  if (failed(layer))
    return failure();
  const bool isLstm = getKind() == RecurrentCell::Lstm;
  const int64_t hidden[] = {layer->state[1]};
  if (!fits(getCell(), isLstm, layer->state) ||
      !fits(getBias(), getKind() == RecurrentCell::GruResetAfter, hidden))
    return emitOpError() << "expected a cell " << toText(layer->state)
                         << " for lstm only, and a bias " << toText(hidden)
                         << " for gru_reset_after only (recurrence_c2)";
  if (!fits(getActivations(), true, layer->gates) || !fits(getStates(), true, layer->states) ||
      !fits(getAuxiliary(), hasAuxiliary(getKind()), layer->states))
    return emitOpError() << "expected activations " << toText(layer->gates)
                         << ", and states and, for lstm and gru, an auxiliary result "
                         << toText(layer->states) << " (recurrence_c3)";
  return success();
}

LogicalResult RecurrenceGradientOp::verify() {
  FailureOr<Layer> layer = verifyLayer(*this, getActivations());
  if (failed(layer))
    return failure();
  const bool isLstm = getKind() == RecurrentCell::Lstm;
  if (!fits(getStates(), true, layer->states) || !fits(getDStates(), true, layer->states) ||
      !fits(getAuxiliary(), RecurrenceOp::hasAuxiliary(getKind()), layer->states) ||
      !fits(getCell(), isLstm, layer->state) ||
      !fits(getDAuxiliary(), isLstm && getDAuxiliary(), layer->states))
    return emitOpError() << "expected states, d_states, auxiliary and d_auxiliary "
                         << toText(layer->states) << " and a cell " << toText(layer->state)
                         << ", where the kind has them (recurrence_gradient_c1)";
  if (!fits(getDGates(), true, layer->gates) || !fits(getDState(), true, layer->state) ||
      !fits(getDCell(), isLstm, layer->state) ||
      !fits(getDCandidate(), getKind() == RecurrentCell::GruResetAfter, layer->states))
    return emitOpError() << "expected d_gates " << toText(layer->gates) << ", d_state and d_cell "
                         << toText(layer->state) << " and d_candidate " << toText(layer->states)
                         << ", where the kind has them (recurrence_gradient_c2)";
  return success();
}

//===------------------------------------------------------------------------------------------===//
// Gradient
//===------------------------------------------------------------------------------------------===//

namespace {

/// Sums over all steps of products of gradients with the states before each step.
class WeightGradients {
public:
  WeightGradients(TensorBuilder &b, RecurrenceOp op) : b(b), op(op) {
    ArrayRef<int64_t> shape = shapeOf(op.getStates());
    steps = shape[0];
    batch = shape[1];
    hidden = shape[2];
  }

  /// Returns the sum over t of d[t]^T . h'[t] for the columns [first, first + count) of d.
  Value overStates(Value d, int64_t first, int64_t count) {
    const int64_t start = op.getReversed() ? steps - 1 : 0;
    Value sum;
    if (steps > 1)
      sum = product(rows(d, op.getReversed() ? 0 : 1, steps - 1, first, count),
                    rows(op.getStates(), op.getReversed() ? 1 : 0, steps - 1, 0, hidden));
    if (sum && matchPattern(op.getState(), m_AnyZeroFloat()))
      return sum;
    Value initial = product(rows(d, start, 1, first, count), op.getState());
    return sum ? b.add(sum, initial) : initial;
  }
  /// Returns the sum over t of d[t]^T . x[t] for the columns [first, first + count) of d.
  Value over(Value x, Value d, int64_t first, int64_t count) {
    return product(rows(d, 0, steps, first, count), rows(x, 0, steps, 0, hidden));
  }

private:
  /// Returns `count` columns of the rows of `length` steps, [length * B, count].
  Value rows(Value x, int64_t step, int64_t length, int64_t first, int64_t count) {
    Value part = b.slice(x, {step, 0, first}, {length, batch, count}, {1, 1, 1});
    return b.reshape(part, {length * batch, count});
  }
  Value product(Value lhs, Value rhs) { return b.contract(lhs, rhs, {}, {}, {0}, {0}); }

  TensorBuilder &b;
  RecurrenceOp op;
  int64_t steps, batch, hidden;
};

} // namespace

/// Saved activations are all results. The weights have the gradient sum over t of d_gates[t]^T .
/// h'[t], except for the candidate of a GRU: its weights multiply r * h' (gru), or their product is
/// multiplied by r (gru_reset_after).
void RecurrenceOp::buildGradient(GradientBuilder &g) {
  Value dStates = g.cotangent(1);
  const bool isLstm = getKind() == RecurrentCell::Lstm;
  Value dAuxiliary = isLstm ? g.cotangent(2) : Value();
  if (!dStates && !dAuxiliary)
    return; // Only other saved values have cotangents.
  if (!dStates)
    dStates = g.splat(getStates(), 0.0);
  const bool isResetAfter = getKind() == RecurrentCell::GruResetAfter;
  auto gradient = RecurrenceGradientOp::create(
      g, g.getLoc(), getGates().getType(), getState().getType(),
      isLstm ? getState().getType() : Type(), isResetAfter ? getStates().getType() : Type(),
      getKind(), getActivations(), getWeights(), getStates(), getAuxiliary(), getState(), getCell(),
      dStates, dAuxiliary, getReversed());
  Value dGates = gradient.getDGates(), dCandidate = gradient.getDCandidate();
  // Operands are gates, weights, state, and cell or bias.
  if (g.needs(0))
    g.set(0, dGates);
  if (g.needs(1)) {
    WeightGradients sums(g, *this);
    const int64_t hidden = shapeOf(getState())[1], all = shapeOf(getWeights())[0];
    if (getKind() == RecurrentCell::Gru || isResetAfter) {
      Value updateAndReset = sums.overStates(dGates, 0, 2 * hidden);
      Value candidate = isResetAfter ? sums.overStates(dCandidate, 0, hidden)
                                     : sums.over(getAuxiliary(), dGates, 2 * hidden, hidden);
      g.set(1, g.concatenate({updateAndReset, candidate}, 0));
    } else {
      g.set(1, sums.overStates(dGates, 0, all));
    }
  }
  if (g.needs(2))
    g.set(2, gradient.getDState());
  if (isLstm && g.needs(3))
    g.set(3, gradient.getDCell());
  if (isResetAfter && g.needs(3))
    g.set(3, g.sum(dCandidate, {0, 1}));
}
