/* A convolution, or one of its adjoints, as a program describes it to the runtime. */
#ifndef MTC_RUNTIME_ABI_CONVOLUTION_H
#define MTC_RUNTIME_ABI_CONVOLUTION_H

#include "runtime/abi/activation.h"
#include "runtime/abi/program.h"

/* All described by MtcConvolution. */
#define MTC_CONVOLUTION "convolution" /* input, weights, bias?, addend? -> output */
#define MTC_TRANSPOSED_CONVOLUTION "transposed_convolution" /* output, weights -> input */
#define MTC_CONVOLUTION_WEIGHT_GRADIENT                                                            \
  "convolution_weight_gradient" /* input, output -> weights                                        \
                                 */

/* The most axes along which windows slide. */
#define MTC_MAX_WINDOW_AXES 3

/* Over positions o and taps k along each window axis, channels c and m of each group g:
 *
 *   output[n, o.., g, m] = sum over k.., c of
 *     input[n, o * stride + k * dilation - before.., g, c] * weights[g, m, c, k..]
 *
 * where input elements beyond its extents are 0. To these sums a convolution adds its addend, of
 * the output's extents, and its bias, one number for each channel of the output, and takes its
 * activation. The other two kinds are its adjoints: the operand that they lack is what they compute
 * from the same sum. All tensors are dense, in this order of their axes. */
typedef struct MtcConvolution {
  uint32_t type;        /* of all operands and the result but those that are f32 below */
  uint32_t window_rank; /* 1..MTC_MAX_WINDOW_AXES */
  int64_t batch, groups;
  int64_t input_channels, output_channels; /* of one group */
  int64_t input[MTC_MAX_WINDOW_AXES], output[MTC_MAX_WINDOW_AXES], kernel[MTC_MAX_WINDOW_AXES];
  int64_t strides[MTC_MAX_WINDOW_AXES], dilations[MTC_MAX_WINDOW_AXES];
  int64_t before[MTC_MAX_WINDOW_AXES]; /* padding in front */
  uint32_t has_bias, has_addend;       /* of a convolution, as is the activation */
  uint32_t activation;                 /* MTC_NO_ACTIVATION or MTC_RELU */
  /* Where `type` has 16 bits: */
  uint32_t f32_result, f32_bias, f32_addend; /* what is computed, and what is added, is f32 */
  uint32_t f32_products; /* the processor multiplies in f32: the target has no such instructions */
  uint32_t unused;       /* 0 */
} MtcConvolution;

#endif /* MTC_RUNTIME_ABI_CONVOLUTION_H */
