/* A convolution, or one of its adjoints, as a program describes it to the runtime. */
#ifndef MTC_RUNTIME_ABI_CONVOLUTION_H
#define MTC_RUNTIME_ABI_CONVOLUTION_H

#include "runtime/abi/program.h"

/* All described by MtcConvolution. */
#define MTC_CONVOLUTION "convolution"                       /* input, weights -> output */
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
 * where input elements beyond its extents are 0. The other two kinds are its adjoints: the operand
 * that they lack is what they compute from the same sum. All tensors are dense, in this order of
 * their axes. */
typedef struct MtcConvolution {
  uint32_t type;        /* of all operands and the result */
  uint32_t window_rank; /* 1..MTC_MAX_WINDOW_AXES */
  int64_t batch, groups;
  int64_t input_channels, output_channels; /* of one group */
  int64_t input[MTC_MAX_WINDOW_AXES], output[MTC_MAX_WINDOW_AXES], kernel[MTC_MAX_WINDOW_AXES];
  int64_t strides[MTC_MAX_WINDOW_AXES], dilations[MTC_MAX_WINDOW_AXES];
  int64_t before[MTC_MAX_WINDOW_AXES]; /* padding in front */
} MtcConvolution;

#endif /* MTC_RUNTIME_ABI_CONVOLUTION_H */
