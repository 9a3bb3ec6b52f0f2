//===- RecurrenceSteps.cpp - Recurrent layers in core operations, step by step ----------------===//

#include "ir/Mtc.h"
#include "ir/builders/TensorBuilder.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Slices and joins the tensors of all steps.
class Steps {
public:
  template <typename Op>
  Steps(TensorBuilder &b, Op op)
      : b(b), weights(op.getWeights()), count(shapeOf(op.getStates())[0]),
        batch(shapeOf(op.getStates())[1]), hidden(shapeOf(op.getStates())[2]),
        isReversed(op.getReversed()) {}

  /// Returns the index of the n-th step.
  int64_t index(int64_t n) const { return isReversed ? count - 1 - n : n; }

  /// Returns columns [first, first + width) of step `index` of a tensor [T, B, .], as [B, width].
  Value at(Value all, int64_t index, int64_t first, int64_t width) {
    Value part = b.slice(all, {index, 0, first}, {1, batch, width}, {1, 1, 1});
    return b.reshape(part, {batch, width});
  }
  Value gate(Value all, int64_t index, int64_t i) { return at(all, index, i * hidden, hidden); }
  Value state(Value all, int64_t index) { return at(all, index, 0, hidden); }

  /// Returns x . R^T for the gates [first, first + gates).
  Value forward(Value x, int64_t first, int64_t gates) {
    return b.contract(x, rows(first, gates), {}, {}, {1}, {1});
  }
  /// Returns d . R for the gates [first, first + gates).
  Value backward(Value d, int64_t first, int64_t gates) {
    return b.contract(d, rows(first, gates), {}, {}, {1}, {0});
  }
  Value columns(Value x, int64_t i) { return b.slice(x, {0, i * hidden}, {batch, hidden}, {1, 1}); }
  Value joinGates(ValueRange gates) {
    return gates.size() == 1 ? gates.front() : b.concatenate(gates, 1);
  }
  /// Joins [B, .] of all steps, by index.
  Value join(ArrayRef<Value> steps) {
    SmallVector<Value> parts;
    for (Value step : steps)
      parts.push_back(b.reshape(step, {1, batch, shapeOf(step)[1]}));
    return parts.size() == 1 ? parts.front() : b.concatenate(parts, 0);
  }

  /// Returns 1 - x.
  Value complement(Value x) { return b.sub(b.splat(x, 1.0), x); }
  /// Returns d * y * (1 - y), the gradient of the logistic function at its value y.
  Value logisticGradient(Value d, Value y) { return b.mul(d, b.mul(y, complement(y))); }
  /// Returns d * (1 - y^2), the gradient of tanh at its value y.
  Value tanhGradient(Value d, Value y) { return b.mul(d, complement(b.mul(y, y))); }

  TensorBuilder &b;
  Value weights;
  int64_t count, batch, hidden;
  bool isReversed;

private:
  Value rows(int64_t first, int64_t gates) {
    if (gates * hidden == shapeOf(weights)[0])
      return weights;
    return b.slice(weights, {first * hidden, 0}, {gates * hidden, hidden}, {1, 1});
  }
};

/// The values of one step of the forward pass.
struct ForwardStep {
  SmallVector<Value> gates;
  Value state, auxiliary;
};

} // namespace

static ForwardStep lstmStep(Steps &s, Value gates, int64_t t, Value state, Value &cell) {
  TensorBuilder &b = s.b;
  Value sum = b.add(s.at(gates, t, 0, 4 * s.hidden), s.forward(state, 0, 4));
  Value i = b.logistic(s.columns(sum, 0)), o = b.logistic(s.columns(sum, 1)),
        f = b.logistic(s.columns(sum, 2)), g = b.tanh(s.columns(sum, 3));
  cell = b.add(b.mul(f, cell), b.mul(i, g));
  return {{i, o, f, g}, b.mul(o, b.tanh(cell)), cell};
}

static ForwardStep gruStep(Steps &s, Value gates, int64_t t, Value state, Value bias) {
  TensorBuilder &b = s.b;
  Value sum = s.forward(state, 0, bias ? 3 : 2);
  Value z = b.logistic(b.add(s.gate(gates, t, 0), s.columns(sum, 0))),
        r = b.logistic(b.add(s.gate(gates, t, 1), s.columns(sum, 1)));
  Value auxiliary, candidate;
  if (bias) {
    auxiliary = b.add(s.columns(sum, 2), b.broadcast(bias, {0}, {s.batch, s.hidden}));
    candidate = b.mul(r, auxiliary);
  } else {
    auxiliary = b.mul(r, state);
    candidate = s.forward(auxiliary, 2, 1);
  }
  Value n = b.tanh(b.add(s.gate(gates, t, 2), candidate));
  return {{z, r, n}, b.add(b.mul(s.complement(z), n), b.mul(z, state)), auxiliary};
}

SmallVector<Value> RecurrenceOp::decompose(TensorBuilder &b) {
  Steps s(b, *this);
  SmallVector<Value> activations(s.count), states(s.count), auxiliary(s.count);
  Value state = getState(), cell = getCell();
  for (int64_t t : llvm::map_range(llvm::seq(s.count), [&](int64_t n) { return s.index(n); })) {
    ForwardStep step;
    if (getKind() == RecurrentCell::Lstm) {
      step = lstmStep(s, getGates(), t, state, cell);
    } else if (hasAuxiliary(getKind())) {
      step = gruStep(s, getGates(), t, state, getBias());
    } else {
      Value sum = b.add(s.state(getGates(), t), s.forward(state, 0, 1));
      Value h = getKind() == RecurrentCell::Tanh ? b.tanh(sum) : b.max(sum, b.splat(sum, 0.0));
      step = {{h}, h, {}};
    }
    state = step.state;
    activations[t] = s.joinGates(step.gates);
    states[t] = step.state;
    auxiliary[t] = step.auxiliary;
  }
  SmallVector<Value> results = {s.join(activations), s.join(states)};
  if (hasAuxiliary(getKind()))
    results.push_back(s.join(auxiliary));
  return results;
}

namespace {

/// The backward pass of one step, whose gradients flow to the step before.
class BackwardStep {
public:
  BackwardStep(Steps &s, RecurrenceGradientOp op) : s(s), b(s.b), op(op) {}

  /// Computes the gradients of step `t` from d, the gradient of its state. `before` is the index of
  /// the step before; nothing for the first step.
  void run(int64_t t, std::optional<int64_t> before, Value d) {
    if (op.getKind() == RecurrentCell::Lstm)
      lstm(t, before, d);
    else if (RecurrenceOp::hasAuxiliary(op.getKind()))
      gru(t, before, d);
    else
      rnn(t, d);
  }

  Value dGates;     ///< [B, G * H]
  Value dBefore;    ///< gradient of the state before
  Value dCell;      ///< of an LSTM: gradient of the cell before; null before the first call
  Value dCandidate; ///< of a GRU with the reset gate after the product

private:
  void lstm(int64_t t, std::optional<int64_t> before, Value d) {
    Value a = op.getActivations(), cells = op.getAuxiliary();
    Value i = s.gate(a, t, 0), o = s.gate(a, t, 1), f = s.gate(a, t, 2), g = s.gate(a, t, 3);
    Value cellBefore = before ? s.state(cells, *before) : op.getCell();
    Value y = b.tanh(s.state(cells, t));
    Value dc = s.tanhGradient(b.mul(d, o), y);
    if (dCell)
      dc = b.add(dc, dCell);
    if (op.getDAuxiliary())
      dc = b.add(dc, s.state(op.getDAuxiliary(), t));
    dGates = s.joinGates({s.logisticGradient(b.mul(dc, g), i), s.logisticGradient(b.mul(d, y), o),
                          s.logisticGradient(b.mul(dc, cellBefore), f),
                          s.tanhGradient(b.mul(dc, i), g)});
    dCell = b.mul(dc, f);
    dBefore = s.backward(dGates, 0, 4);
  }

  void gru(int64_t t, std::optional<int64_t> before, Value d) {
    Value a = op.getActivations();
    Value z = s.gate(a, t, 0), r = s.gate(a, t, 1), n = s.gate(a, t, 2);
    Value h = before ? s.state(op.getStates(), *before) : op.getState();
    Value dz = s.logisticGradient(b.mul(d, b.sub(h, n)), z);
    Value dn = s.tanhGradient(b.mul(d, s.complement(z)), n);
    dBefore = b.mul(d, z);
    if (op.getKind() == RecurrentCell::GruResetAfter) {
      dCandidate = b.mul(dn, r);
      Value dr = s.logisticGradient(b.mul(dn, s.state(op.getAuxiliary(), t)), r);
      dGates = s.joinGates({dz, dr, dn});
      dBefore = b.add(dBefore, s.backward(s.joinGates({dz, dr, dCandidate}), 0, 3));
    } else {
      Value dm = s.backward(dn, 2, 1); // The gradient of r * h'.
      Value dr = s.logisticGradient(b.mul(dm, h), r);
      dGates = s.joinGates({dz, dr, dn});
      dBefore = b.add(b.add(dBefore, b.mul(dm, r)), s.backward(s.joinGates({dz, dr}), 0, 2));
    }
  }

  /// At 0, relu has the gradient 0.
  void rnn(int64_t t, Value d) {
    Value h = s.state(op.getActivations(), t);
    if (op.getKind() == RecurrentCell::Tanh) {
      dGates = s.tanhGradient(d, h);
    } else {
      Value zero = b.splat(h, 0.0);
      dGates = b.select(b.compare(Predicate::Gt, h, zero), d, zero);
    }
    dBefore = s.backward(dGates, 0, 1);
  }

  Steps &s;
  TensorBuilder &b;
  RecurrenceGradientOp op;
};

} // namespace

SmallVector<Value> RecurrenceGradientOp::decompose(TensorBuilder &b) {
  Steps s(b, *this);
  BackwardStep step(s, *this);
  SmallVector<Value> dGates(s.count), dCandidates(s.count);
  for (int64_t n = s.count; n-- > 0;) {
    const int64_t t = s.index(n);
    Value d = s.state(getDStates(), t);
    if (step.dBefore)
      d = b.add(d, step.dBefore);
    step.run(t, n > 0 ? std::optional(s.index(n - 1)) : std::nullopt, d);
    dGates[t] = step.dGates;
    dCandidates[t] = step.dCandidate;
  }
  SmallVector<Value> results = {s.join(dGates), step.dBefore};
  if (getDCell())
    results.push_back(step.dCell);
  if (getDCandidate())
    results.push_back(s.join(dCandidates));
  return results;
}

/// Returns why a layer of `steps` steps is not decomposed.
static std::string refuseSteps(int64_t steps) {
  if (steps <= RecurrenceOp::maxDecomposedSteps)
    return "";
  return ("has " + Twine(steps) + " steps, expected at most " +
          Twine(RecurrenceOp::maxDecomposedSteps) +
          " where recurrent layers are unrolled (by mtc grad, and where no library computes them); "
          "use shorter sequences")
      .str();
}

std::string RecurrenceOp::refuseDecomposition() { return refuseSteps(shapeOf(getGates())[0]); }

std::string RecurrenceGradientOp::refuseDecomposition() {
  return refuseSteps(shapeOf(getActivations())[0]);
}
