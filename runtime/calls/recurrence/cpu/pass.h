// A forward or backward pass over the steps of a recurrent layer: its buffers, scratch and tasks.
#ifndef MTC_RUNTIME_CALLS_RECURRENCE_CPU_PASS_H
#define MTC_RUNTIME_CALLS_RECURRENCE_CPU_PASS_H

#include "runtime/abi/recurrence.h"

#include <algorithm>
#include <cstdint>

namespace mtc::runtime {

/// The tasks of a step: blocks of hidden units times chunks of the batch. A task multiplies the
/// lines of its chunk by the panel of its block, and then computes its units of the cell.
struct RecurrenceTasks {
  int64_t units;        ///< hidden units of a block
  int64_t blocks;       ///< number of panels
  int64_t depth, width; ///< extents of a panel
  int64_t chunks, rows; ///< number of chunks, and the rows of each but the last
  int64_t line;         ///< elements from one line to the next
  static constexpr int64_t maxRows = 48, cacheLine = 64;

  /// The sizes do not depend on the machine.
  RecurrenceTasks(const MtcRecurrence &p, bool isGradient, int64_t elementBytes) {
    const int64_t gates = mtc_recurrence_gates(p.cell);
    // AVX-512 multiplies up to four cache lines at once: the gates of a unit, or of a GRU the first
    // two gates, whose candidate is multiplied afterwards.
    const int64_t lines = isGradient || gates == 1 ? 4 : p.cell == MTC_GRU ? 2 : 1;
    units = lines * cacheLine / elementBytes;
    blocks = (p.hidden + units - 1) / units;
    depth = isGradient ? gates * p.hidden : p.hidden;
    width = isGradient ? units : gates * units;
    chunks = std::max<int64_t>((p.batch + maxRows - 1) / maxRows, 1);
    rows = (p.batch + chunks - 1) / chunks;
    // Lines whose distance is a power of two would map to the same cache sets.
    line = (isGradient ? gates : p.cell == MTC_GRU ? 2 : 1) * p.hidden + cacheLine / elementBytes;
  }

  int64_t count() const { return blocks * chunks; }
};

/// A task's ranges of rows and of hidden units.
struct RecurrenceTask {
  int64_t block, row, rows, unit, units;

  RecurrenceTask(const MtcRecurrence &p, const RecurrenceTasks &tasks, int64_t number)
      : block(number / tasks.chunks), row(number % tasks.chunks * tasks.rows),
        rows(std::min(tasks.rows, p.batch - row)), unit(block * tasks.units),
        units(std::min(tasks.units, p.hidden - unit)) {}
};

/// The buffers of a pass; null where the cell has none. `activations` are those of the gates, which
/// the backward pass replaces by `dGates`.
template <typename Element> struct RecurrencePass {
  const MtcRecurrence &p;
  const RecurrenceTasks &tasks;
  const int64_t gates, hidden;
  const Element *preactivations = nullptr, *weights = nullptr, *state = nullptr, *cell = nullptr,
                *bias = nullptr;
  const Element *savedActivations = nullptr, *savedStates = nullptr, *savedAuxiliary = nullptr,
                *dStates = nullptr, *dAuxiliary = nullptr;
  Element *activations = nullptr, *states = nullptr, *auxiliary = nullptr;
  Element *dGates = nullptr, *dState = nullptr, *dCell = nullptr, *dCandidate = nullptr;
  Element *panels = nullptr; ///< the packed weights
  /// The operands of the products of even and odd steps, [batch, line]. Forward: h, followed by
  /// r * h' for a GRU. Backward: the gradients of the products of all gates.
  Element *lines[2] = {};
  /// [batch, hidden] of a backward pass. LSTM: gradient of the cell; GRU: the part of the gradient
  /// of the state that is not a product with the weights.
  Element *carry = nullptr;

  RecurrencePass(const MtcRecurrence &p, const RecurrenceTasks &tasks, bool isGradient,
                 char *const *buffers)
      : p(p), tasks(tasks), gates(mtc_recurrence_gates(p.cell)), hidden(p.hidden) {
    auto next = [&] { return reinterpret_cast<Element *>(*buffers++); };
    const bool isLstm = p.cell == MTC_LSTM, isResetAfter = p.cell == MTC_GRU_RESET_AFTER;
    const Element *first = p.is_in_place ? nullptr : next();
    weights = next();
    if (!isGradient) {
      state = next();
      cell = isLstm ? next() : nullptr;
      bias = isResetAfter ? next() : nullptr;
      activations = next();
      states = next();
      auxiliary = mtc_recurrence_has_auxiliary(p.cell) ? next() : nullptr;
      preactivations = first ? first : activations;
      return;
    }
    savedStates = next();
    savedAuxiliary = mtc_recurrence_has_auxiliary(p.cell) ? next() : nullptr;
    state = next();
    cell = isLstm ? next() : nullptr;
    dStates = next();
    dAuxiliary = p.has_d_auxiliary ? next() : nullptr;
    dGates = next();
    dState = next();
    dCell = isLstm ? next() : nullptr;
    dCandidate = isResetAfter ? next() : nullptr;
    savedActivations = first ? first : dGates;
  }

  /// Returns the index of the n-th step.
  int64_t index(int64_t n) const { return p.is_reversed ? p.steps - 1 - n : n; }
  /// Returns [batch, hidden] or [batch, gates * hidden] of the n-th step.
  template <typename T> T *stepOf(T *all, int64_t n) const {
    return all + index(n) * p.batch * hidden;
  }
  template <typename T> T *gatesOfStep(T *all, int64_t n) const {
    return all + index(n) * p.batch * gates * hidden;
  }
  /// Returns the values before the n-th step.
  const Element *before(const Element *all, const Element *initial, int64_t n) const {
    return n > 0 ? stepOf(all, n - 1) : initial;
  }
  /// Returns the lines of the n-th step, or of the initial state for n = -1.
  Element *linesOf(int64_t n) const { return lines[n & 1]; }
  const Element *panel(int64_t block) const { return panels + block * tasks.depth * tasks.width; }
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_RECURRENCE_CPU_PASS_H
