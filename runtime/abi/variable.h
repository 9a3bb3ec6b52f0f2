/* State of a program that persists across steps. */
#ifndef MTC_RUNTIME_ABI_VARIABLE_H
#define MTC_RUNTIME_ABI_VARIABLE_H

#include "runtime/abi/tensor.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MtcRole {
  MTC_PARAMETER = 0, /* trained; saved and exported */
  MTC_CONSTANT = 1,  /* read-only; not saved */
  MTC_STATE = 2,     /* written by steps (running statistics); saved and exported */
  MTC_GRADIENT = 3,  /* gradient of a parameter, or a rank's piece of a sum of gradients, whose `of`
                        is -1; not saved */
  MTC_OPTIMIZER = 4, /* optimizer state; saved */
  MTC_SCALAR = 5,    /* a scalar that the runtime sets before each step (MtcScalars) */
  MTC_AVERAGE = 6,   /* average of a parameter over the steps; saved, and exported in place of the
                        parameter on request */
  MTC_FROZEN = 7,    /* a read-only parameter; exported, not saved */
  MTC_COPIED = 8,    /* a copy of a variable in another type; not saved, because it is derived */
  MTC_LOW_HALF = 9   /* i16 lower halves of f32 elements; another variable holds the upper halves as
                        bf16. As bits, element = (upper << 16) + lower; saved and exported as f32 */
} MtcRole;

typedef enum MtcInitial {
  MTC_INITIAL_ZERO = 0,
  MTC_INITIAL_DATA = 1, /* `data` holds `bytes` bytes, which are stored in the program */
  MTC_INITIAL_FILE = 2, /* read from the weights file, under the variable's name */
  /* random, from N(0, `spread`²), a pure function of (seed, variable's name, element index) */
  MTC_INITIAL_NORMAL = 3,
  /* uninitialized: written only by `gradients`, and allocated only in the arena of that function */
  MTC_INITIAL_NONE = 4,
  MTC_INITIAL_SPLAT = 5,     /* every element is the one stored in `data` */
  MTC_INITIAL_PARAMETER = 6, /* the initial value of the parameter given by MtcVariable::of */
  /* random, uniform in [-`spread`, `spread`), a pure function of (seed, variable's name, element
   * index) */
  MTC_INITIAL_UNIFORM = 7,
  /* the norms of the matrix of the adapter whose magnitude the variable is, each over `in` */
  MTC_INITIAL_ADAPTED_NORMS = 8
} MtcInitial;

/* A mapping between elements of a variable and elements of a tensor in another file. For all
 * indices i[a] < extents[a], element `variable` + sum of i[a] * variable_strides[a] of the variable
 * is element `image` + sum of i[a] * image_strides[a] of the image. */
typedef struct MtcImagePart {
  int64_t variable, image;
  uint32_t rank; /* at least 1 */
  const int64_t *extents, *variable_strides, *image_strides;
} MtcImagePart;

/* A tensor of another file that contains elements of a variable. `dims` has `rank` extents; null
 * for rank 0. */
typedef struct MtcTensorImage {
  const char *name;
  uint32_t rank;
  const int64_t *dims;
  uint32_t part_count; /* 0: the tensor contains all elements of the variable, in order */
  const MtcImagePart *parts;
} MtcTensorImage;

/* State that persists across steps. `tensor.name` is the name of the ONNX initializer for
 * parameters, constants and state; names of gradients and optimizer state are derived from it
 * (`NAME.grad`, `NAME.moment1`). */
typedef struct MtcVariable {
  MtcTensor tensor;
  uint32_t role;    /* MtcRole */
  uint32_t initial; /* MtcInitial */
  const void *data; /* DATA, SPLAT; of random values null, or int64_t [2]: a range of zeros */
  double spread;    /* parameter of MTC_INITIAL_NORMAL and MTC_INITIAL_UNIFORM */
  int32_t of;       /* index of the variable, usually a parameter, to which a gradient, optimizer
                       state, average, copy or low half belongs; -1 otherwise */
  uint32_t storage; /* MtcStorage (runtime/abi/storage.h) of `source` in `tensor` */
  uint32_t is_transposed; /* `source` is stored column-major */
  /* The pipeline stage whose ranks have the variable; -1: the ranks of every stage have it, with
   * equal values. On the ranks of other stages its offset is -1. */
  int32_t stage;
  const MtcTensor *source; /* the value before compression, without an offset; null: `tensor` is the
                              value itself */
  /* The variable of all ranks, without an offset, of which `tensor` has the elements of this rank.
   * Null: every rank has all elements. Runs of `run` elements belong to the `parts` ranks of a
   * group in turn (runtime/abi/collective.h): element e to number e % block / run. The last runs of
   * a block may be shorter, or empty, if `block` is less than run * parts; the part then has
   * padding, which is 0, in place of the missing elements. A part consists of flat pieces of
   * `piece` elements, of which number i belongs to number i of the `pieces` ranks of another group;
   * the last pieces may be shorter, or empty. One part is the whole variable in runs of a block,
   * and one piece is a whole part. */
  const MtcTensor *whole;
  int64_t run, parts, stride, block;   /* 0 if `whole` is null */
  int64_t piece, pieces, piece_stride; /* 0 if `whole` is null */
  uint32_t is_in_module;               /* the variable is known to exist in the user's module */
  /* The tensors of the user's module that hold the variable, in groups that each cover all of its
   * elements; 0: one tensor of the same name and shape. */
  uint32_t image_count;
  const MtcTensorImage *images; /* null if there are none */
  /* The tensors of files of save_pretrained, in such groups; 0: those of the module. */
  uint32_t pretrained_image_count;
  const MtcTensorImage *pretrained_images; /* null if there are none */
} MtcVariable;

/* A buffer of the user's module that no function reads; --export-weights writes it. `tensor` has no
 * offset. */
typedef struct MtcBuffer {
  MtcTensor tensor;
  const void *data;
  uint32_t counts_batches; /* the exported value is `data`, one integer, plus the number of trained
                              batches */
  const char *pretrained_name; /* the name in files of save_pretrained */
} MtcBuffer;

/* A low-rank adapter of a frozen matrix. Users of the matrix compute with base + scale up @ down,
 * where down is [rank, in] and up is [out, rank], and scale is alpha / rank, or alpha / sqrt(rank)
 * if it is rank-stabilized. With a magnitude, [out], the sum is rescaled along `in` to these norms.
 * Only the factors and the magnitude are trained. All four fields are indices of variables, which
 * are f64 if the base is f64, otherwise f32; the magnitude is -1 if there is none. */
typedef struct MtcAdapter {
  int32_t base, down, up, magnitude;
  uint32_t axis; /* axis of `in` in the base: 1 if the base is [out, in] */
  uint32_t is_rank_stabilized;
  double alpha;
  double dropout; /* the probability with which training drops elements of the input of `down` */
} MtcAdapter;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_VARIABLE_H */
