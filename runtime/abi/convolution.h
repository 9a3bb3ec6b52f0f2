/* ABI record of convolution calls and their adjoints: the shapes and types that a program passes to
 * the runtime. */
#ifndef MTC_RUNTIME_ABI_CONVOLUTION_H
#define MTC_RUNTIME_ABI_CONVOLUTION_H

#include "runtime/abi/activation.h"
#include "runtime/abi/algorithm.h"
#include "runtime/abi/tensor.h"

/* All kinds are described by an MtcConvolution. */
#define MTC_CONVOLUTION "convolution" /* input, weights, bias?, addend? -> output */
#define MTC_TRANSPOSED_CONVOLUTION "transposed_convolution" /* output, weights -> input */
#define MTC_CONVOLUTION_WEIGHT_GRADIENT                                                            \
  "convolution_weight_gradient" /* input, output -> weights                                        \
                                 */

/* The maximum number of spatial (window) axes. */
#define MTC_MAX_WINDOW_AXES 3

/* Over output positions o and kernel taps k of each window axis, and channels c and m of each group
 * g:
 *
 *   output[n, o.., g, m] = sum over k.., c of
 *     input[n, o * stride + k * dilation - before.., g, c] * weights[g, m, c, k..]
 *
 * where input elements outside its extents are 0. A convolution then adds its addend, which has the
 * shape of the output, and its bias, one element per output channel, and applies its activation.
 * The other two kinds are the adjoints: they compute the missing operand from the same sum. All
 * tensors are dense, with the axes in the order above. */
typedef struct MtcConvolution {
  uint32_t type;                   /* MtcType of the two operands that are multiplied */
  uint32_t result_type;            /* of what the call computes */
  uint32_t bias_type, addend_type; /* `type` if there is none */
  uint32_t product_type;           /* as in MtcContraction */
  uint32_t window_rank;            /* 1..MTC_MAX_WINDOW_AXES */
  int64_t batch, groups;
  int64_t input_channels, output_channels; /* per group */
  int64_t input[MTC_MAX_WINDOW_AXES], output[MTC_MAX_WINDOW_AXES], kernel[MTC_MAX_WINDOW_AXES];
  int64_t strides[MTC_MAX_WINDOW_AXES], dilations[MTC_MAX_WINDOW_AXES];
  int64_t before[MTC_MAX_WINDOW_AXES]; /* padding before the first element */
  uint32_t has_bias, has_addend;       /* MTC_CONVOLUTION only, as is the activation */
  uint32_t activation;                 /* MTC_NO_ACTIVATION or MTC_RELU */
  uint32_t algorithm;                  /* MtcAlgorithm: as stored, own panels or Winograd */
} MtcConvolution;

/* Gives all operands and the result the same type, in which they are multiplied. */
static inline void mtc_set_convolution_types(MtcConvolution *c, uint32_t type) {
  c->type = c->result_type = c->bias_type = c->addend_type = c->product_type = type;
}

/* Returns whether a convolution and its adjoints have the algorithm MTC_WINOGRAD: f32, one group,
 * 3x3 windows with stride and dilation 1, and no activation. */
static inline int mtc_has_winograd(const MtcConvolution *c) {
  if (c->type != MTC_F32 || c->groups != 1 || c->window_rank != 2 ||
      c->activation != MTC_NO_ACTIVATION)
    return 0;
  for (int i = 0; i < 2; ++i)
    if (c->kernel[i] != 3 || c->strides[i] != 1 || c->dilations[i] != 1)
      return 0;
  return 1;
}

#endif /* MTC_RUNTIME_ABI_CONVOLUTION_H */
