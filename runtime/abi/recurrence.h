/* ABI record of calls that compute one direction of a recurrent layer. */
#ifndef MTC_RUNTIME_ABI_RECURRENCE_H
#define MTC_RUNTIME_ABI_RECURRENCE_H

#include "runtime/abi/element_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both kinds are described by an MtcRecurrence. */
#define MTC_RECURRENCE "recurrence"
#define MTC_RECURRENCE_GRADIENT "recurrence gradient"

typedef enum MtcRecurrentCell {
  MTC_LSTM = 0,
  MTC_GRU = 1,
  MTC_GRU_RESET_AFTER = 2,
  MTC_RNN_TANH = 3,
  MTC_RNN_RELU = 4
} MtcRecurrentCell;

/* Returns the number of gates of an MtcRecurrentCell. */
static inline int64_t mtc_recurrence_gates(uint32_t cell) {
  switch (cell) {
  case MTC_LSTM:
    return 4;
  case MTC_GRU:
  case MTC_GRU_RESET_AFTER:
    return 3;
  default:
    return 1;
  }
}

/* Returns whether calls of an MtcRecurrentCell have the tensor auxiliary. */
static inline int mtc_recurrence_has_auxiliary(uint32_t cell) {
  return cell != MTC_RNN_TANH && cell != MTC_RNN_RELU;
}

/* Computes all steps t of a recurrent layer from the pre-activations x = gates[t] that its inputs
 * contribute. Each step reads the state h' of the step before, or `state` at the first step. With
 * R = weights, s = h' . R^T, and the gates in the order of their rows in R:
 *
 *   MTC_LSTM              i, o, f = logistic(x + s), g = tanh(x + s)
 *                         c = f * c' + i * g,  h = o * tanh(c)
 *   MTC_GRU               z, r = logistic(x + s),  n = tanh(x + (r * h') . R_n^T)
 *                         h = (1 - z) * n + z * h'
 *   MTC_GRU_RESET_AFTER   z, r = logistic(x + s),  n = tanh(x + r * (s + bias))
 *                         h = (1 - z) * n + z * h'
 *   MTC_RNN_TANH, _RELU   h = tanh(x + s), relu(x + s)
 *
 * All tensors are dense and row-major, and have `type`, f32 or f64. gates and activations are
 * [steps, batch, G * hidden] for G gates, weights [G * hidden, hidden], state and cell [batch,
 * hidden], bias [hidden], and all others [steps, batch, hidden]. With is_reversed, the first step
 * is the last index.
 *
 * MTC_RECURRENCE: operands gates, weights, state, cell (LSTM), bias (GRU_RESET_AFTER); results
 * activations (the values of the gates), states (h), auxiliary (LSTM: c; GRU: r * h';
 * GRU_RESET_AFTER: s_n + bias). With is_in_place, there is no operand gates, and activations holds
 * its elements.
 *
 * MTC_RECURRENCE_GRADIENT: operands activations, weights, states, auxiliary (LSTM, GRU), state,
 * cell (LSTM), d_states, d_auxiliary (with has_d_auxiliary, LSTM); results d_gates, d_state, d_cell
 * (LSTM), d_candidate (GRU_RESET_AFTER: the gradient of s_n + bias). With is_in_place, there is no
 * operand activations, and d_gates holds its elements. */
typedef struct MtcRecurrence {
  uint32_t type, cell; /* MtcType, MtcRecurrentCell */
  uint32_t is_reversed, is_in_place;
  uint32_t has_d_auxiliary, unused; /* unused: 0 */
  int64_t steps, batch, hidden;
} MtcRecurrence;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_RECURRENCE_H */
