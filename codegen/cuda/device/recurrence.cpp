//===- recurrence.cpp - The cells of recurrent layers -----------------------------------------===//
//
// Computes one step of runtime/abi/recurrence.h from the products with the weights. The parameters
// are those of runtime/abi/cuda_recurrence.h.
//
//===------------------------------------------------------------------------------------------===//

#include "runtime/abi/recurrence.h"
#include "codegen/cuda/device/RecurrentCells.h"
#include "codegen/cuda/device/Thread.h"

namespace mtc::cuda::device {

template <typename Element> Element logistic(Element x) { return 1 / (1 + exponential(-x)); }

/// Gradients of logistic and tanh at their values y.
template <typename Element> Element logisticGradient(Element d, Element y) {
  return d * (y * (1 - y));
}
template <typename Element> Element tanhGradient(Element d, Element y) { return d * (1 - y * y); }

/// The unit of a thread.
struct Unit {
  int64_t hidden, row, unit;
  int gates;

  explicit Unit(const MtcRecurrence &p)
      : hidden(p.hidden), row(index() / p.hidden), unit(index() % p.hidden),
        gates(static_cast<int>(mtc_recurrence_gates(p.cell))) {}
  static int64_t index() { return int64_t(blockIndex()) * cellThreads + threadIndex(); }

  /// Returns the unit's offset in [batch, hidden], and of a gate in [batch, gates * hidden].
  int64_t at() const { return row * hidden + unit; }
  int64_t at(int gate) const { return (row * gates + gate) * hidden + unit; }
};

//===------------------------------------------------------------------------------------------===//
// Forward pass
//===------------------------------------------------------------------------------------------===//

template <typename Element> struct Cell {
  MTC_GLOBAL const Element *gates, *products, *stateBefore, *cellBefore, *bias;
  MTC_GLOBAL Element *activations, *state, *auxiliary, *lines;

  Element sum(const Unit &u, int gate) const { return gates[u.at(gate)] + products[u.at(gate)]; }
  void finish(const Unit &u, Element h) const { state[u.at()] = lines[u.at()] = h; }

  void lstm(const Unit &u) const {
    const Element i = logistic(sum(u, 0)), o = logistic(sum(u, 1)), f = logistic(sum(u, 2)),
                  g = hyperbolicTangent(sum(u, 3));
    const Element c = f * cellBefore[u.at()] + i * g;
    activations[u.at(0)] = i;
    activations[u.at(1)] = o;
    activations[u.at(2)] = f;
    activations[u.at(3)] = g;
    auxiliary[u.at()] = c;
    finish(u, o * hyperbolicTangent(c));
  }

  /// The next multiplication is that of the candidate.
  void reset(const Unit &u) const {
    const Element z = logistic(sum(u, 0)), r = logistic(sum(u, 1));
    activations[u.at(0)] = z;
    activations[u.at(1)] = r;
    auxiliary[u.at()] = lines[u.at()] = r * stateBefore[u.at()];
  }
  void candidate(const Unit &u) const {
    const Element z = activations[u.at(0)], n = hyperbolicTangent(sum(u, 2));
    activations[u.at(2)] = n;
    finish(u, (1 - z) * n + z * stateBefore[u.at()]);
  }

  void gruResetAfter(const Unit &u) const {
    const Element z = logistic(sum(u, 0)), r = logistic(sum(u, 1)),
                  q = products[u.at(2)] + bias[u.unit],
                  n = hyperbolicTangent(gates[u.at(2)] + r * q);
    activations[u.at(0)] = z;
    activations[u.at(1)] = r;
    activations[u.at(2)] = n;
    auxiliary[u.at()] = q;
    finish(u, (1 - z) * n + z * stateBefore[u.at()]);
  }

  void rnn(const Unit &u, bool isTanh) const {
    const Element s = sum(u, 0);
    const Element h = isTanh ? hyperbolicTangent(s) : s < 0 ? Element(0) : s; // NaN stays NaN.
    activations[u.at(0)] = h;
    finish(u, h);
  }

  void run(const MtcRecurrence &p, bool isCandidate) const {
    if (Unit::index() >= p.batch * p.hidden)
      return;
    const Unit u(p);
    if (p.cell == MTC_LSTM)
      lstm(u);
    else if (p.cell == MTC_GRU)
      isCandidate ? candidate(u) : reset(u);
    else if (p.cell == MTC_GRU_RESET_AFTER)
      gruResetAfter(u);
    else
      rnn(u, p.cell == MTC_RNN_TANH);
  }
};

//===------------------------------------------------------------------------------------------===//
// Backward pass
//===------------------------------------------------------------------------------------------===//

template <typename Element> struct CellGradient {
  MTC_GLOBAL const Element *activations, *stateBefore, *auxiliary, *cellBefore, *dStates,
      *dAuxiliary, *products;
  MTC_GLOBAL Element *dGates, *dCandidate, *dState, *dCell, *lines;

  /// Stores the gradient of a gate, which is also that of its product.
  void set(const Unit &u, int gate, Element d) const { dGates[u.at(gate)] = lines[u.at(gate)] = d; }

  void lstm(const Unit &u, Element d, bool hasAuxiliary) const {
    const Element i = activations[u.at(0)], o = activations[u.at(1)], f = activations[u.at(2)],
                  g = activations[u.at(3)], y = hyperbolicTangent(auxiliary[u.at()]);
    Element dc = tanhGradient(d * o, y) + dCell[u.at()];
    if (hasAuxiliary)
      dc += dAuxiliary[u.at()];
    set(u, 0, logisticGradient(dc * g, i));
    set(u, 1, logisticGradient(d * y, o));
    set(u, 2, logisticGradient(dc * cellBefore[u.at()], f));
    set(u, 3, tanhGradient(dc * i, g));
    dCell[u.at()] = dc * f;
  }

  void gru(const Unit &u, Element d, bool isResetAfter) const {
    const Element z = activations[u.at(0)], r = activations[u.at(1)], n = activations[u.at(2)],
                  h = stateBefore[u.at()], dn = tanhGradient(d * (1 - z), n);
    set(u, 0, logisticGradient(d * (h - n), z));
    dState[u.at()] = d * z;
    if (!isResetAfter)
      return set(u, 2, dn);
    dCandidate[u.at()] = lines[u.at(2)] = dn * r;
    set(u, 1, logisticGradient(dn * auxiliary[u.at()], r));
    dGates[u.at(2)] = dn;
  }
  /// The reset gate before the multiplication.
  void reset(const Unit &u) const {
    const Element d = products[u.at()], r = activations[u.at(1)];
    set(u, 1, logisticGradient(d * stateBefore[u.at()], r));
    dState[u.at()] += d * r;
  }

  void rnn(const Unit &u, Element d, bool isTanh) const {
    const Element y = activations[u.at(0)];
    set(u, 0, isTanh ? tanhGradient(d, y) : y > 0 ? d : Element(0));
  }

  void run(const MtcRecurrence &p, bool isReset) const {
    if (Unit::index() >= p.batch * p.hidden)
      return;
    const Unit u(p);
    if (isReset)
      return reset(u);
    const Element d = dStates[u.at()] + dState[u.at()];
    if (p.cell == MTC_LSTM)
      lstm(u, d, p.has_d_auxiliary);
    else if (p.cell == MTC_GRU || p.cell == MTC_GRU_RESET_AFTER)
      gru(u, d, p.cell == MTC_GRU_RESET_AFTER);
    else
      rnn(u, d, p.cell == MTC_RNN_TANH);
  }
};

} // namespace mtc::cuda::device

//===------------------------------------------------------------------------------------------===//
// Entry points, named after the launch and the element type
//===------------------------------------------------------------------------------------------===//

#define MTC_CELL_ENTRY(name, Element, isCandidate)                                                 \
  extern "C" void name(const MtcRecurrence *p, MTC_GLOBAL const Element *gates,                    \
                       MTC_GLOBAL const Element *products, MTC_GLOBAL const Element *stateBefore,  \
                       MTC_GLOBAL const Element *cellBefore, MTC_GLOBAL const Element *bias,       \
                       MTC_GLOBAL Element *activations, MTC_GLOBAL Element *state,                 \
                       MTC_GLOBAL Element *auxiliary, MTC_GLOBAL Element *lines) {                 \
    mtc::cuda::device::Cell<Element>{gates,       products, stateBefore, cellBefore, bias,         \
                                     activations, state,    auxiliary,   lines}                    \
        .run(*p, isCandidate);                                                                     \
  }

#define MTC_CELL_GRADIENT_ENTRY(name, Element, isReset)                                            \
  extern "C" void name(const MtcRecurrence *p, MTC_GLOBAL const Element *activations,              \
                       MTC_GLOBAL const Element *stateBefore, MTC_GLOBAL const Element *auxiliary, \
                       MTC_GLOBAL const Element *cellBefore, MTC_GLOBAL const Element *dStates,    \
                       MTC_GLOBAL const Element *dAuxiliary, MTC_GLOBAL const Element *products,   \
                       MTC_GLOBAL Element *dGates, MTC_GLOBAL Element *dCandidate,                 \
                       MTC_GLOBAL Element *dState, MTC_GLOBAL Element *dCell,                      \
                       MTC_GLOBAL Element *lines) {                                                \
    mtc::cuda::device::CellGradient<Element>{activations, stateBefore, auxiliary, cellBefore,      \
                                             dStates,     dAuxiliary,  products,  dGates,          \
                                             dCandidate,  dState,      dCell,     lines}           \
        .run(*p, isReset);                                                                         \
  }

MTC_CELL_ENTRY(mtc_cell_f32, float, false)
MTC_CELL_ENTRY(mtc_cell_f64, double, false)
MTC_CELL_ENTRY(mtc_cell_candidate_f32, float, true)
MTC_CELL_ENTRY(mtc_cell_candidate_f64, double, true)
MTC_CELL_GRADIENT_ENTRY(mtc_cell_gradient_f32, float, false)
MTC_CELL_GRADIENT_ENTRY(mtc_cell_gradient_f64, double, false)
MTC_CELL_GRADIENT_ENTRY(mtc_cell_reset_gradient_f32, float, true)
MTC_CELL_GRADIENT_ENTRY(mtc_cell_reset_gradient_f64, double, true)
