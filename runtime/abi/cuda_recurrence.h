/* Device code of recurrent layers on the target `cuda`. The runtime multiplies with the weights,
 * and MtcCall::code computes the gates of one step. */
#ifndef MTC_RUNTIME_ABI_CUDA_RECURRENCE_H
#define MTC_RUNTIME_ABI_CUDA_RECURRENCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The fields are the parameters of the launches, in order: addresses of tensors of one step, dense
 * and row-major; 0 if the cell has none. See MtcRecurrence (runtime/abi/recurrence.h) for the cells
 * and G. A multiplication with the weights precedes each launch of MTC_RECURRENCE and follows each
 * launch of MTC_RECURRENCE_GRADIENT. There are two launches for MTC_GRU and one for others. */

/* MTC_RECURRENCE. The first launch of MTC_GRU computes z, r and auxiliary, the second n and
 * state. */
typedef struct MtcCudaCell {
  uint64_t gates;        /* [batch, G * hidden] */
  uint64_t products;     /* [batch, G * hidden]: the lines times the transposed weights */
  uint64_t state_before; /* [batch, hidden] */
  uint64_t cell_before;  /* [batch, hidden]: LSTM */
  uint64_t bias;         /* [hidden]: GRU_RESET_AFTER */
  uint64_t activations;  /* result, [batch, G * hidden]; may be `gates` */
  uint64_t state;        /* result, [batch, hidden] */
  uint64_t auxiliary;    /* result, [batch, hidden] */
  uint64_t lines;        /* result, [batch, hidden]: left operand of the next multiplication */
} MtcCudaCell;

/* MTC_RECURRENCE_GRADIENT. d_state and d_cell are those of the next step before the launch, and of
 * the step before after the multiplication that follows, which overwrites d_state (GRUs: adds to
 * it). The first launch of MTC_GRU computes the gradients of z and n, the second that of r. */
typedef struct MtcCudaCellGradient {
  uint64_t activations;  /* [batch, G * hidden] */
  uint64_t state_before; /* [batch, hidden] */
  uint64_t auxiliary;    /* [batch, hidden] */
  uint64_t cell_before;  /* [batch, hidden]: LSTM */
  uint64_t d_states;     /* [batch, hidden] */
  uint64_t d_auxiliary;  /* [batch, hidden]: with has_d_auxiliary */
  uint64_t products;     /* [batch, hidden]: GRU, the gradient of r * h' */
  uint64_t d_gates;      /* result, [batch, G * hidden]; may be `activations` */
  uint64_t d_candidate;  /* result, [batch, hidden]: GRU_RESET_AFTER */
  uint64_t d_state;      /* [batch, hidden] */
  uint64_t d_cell;       /* [batch, hidden]: LSTM */
  uint64_t lines; /* result, [batch, G * hidden]: gradients of the products with the weights */
} MtcCudaCellGradient;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_CUDA_RECURRENCE_H */
