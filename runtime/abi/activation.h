/* Activations that a library call applies to its result as an epilogue. */
#ifndef MTC_RUNTIME_ABI_ACTIVATION_H
#define MTC_RUNTIME_ABI_ACTIVATION_H

typedef enum MtcActivation {
  MTC_NO_ACTIVATION = 0,
  MTC_RELU = 1,         /* z if z > 0, NaN if z is NaN, 0 otherwise */
  MTC_GELU = 2,         /* g(z) = z / 2 * (1 + tanh(sqrt(2 / pi) * (z + 0.044715 z^3))) */
  MTC_GELU_GRADIENT = 3 /* z * g'(preactivation) */
} MtcActivation;

#endif /* MTC_RUNTIME_ABI_ACTIVATION_H */
