/* The program's ABI: what a compiled program tells the runtime about itself.
 *
 * The compiler emits one constant `MtcProgram mtc_program` into the object file of every program;
 * the runtime, linked to it, reads nothing else. It is C, so that both sides agree on the layout;
 * neither side includes another header of the other. Every pointer refers to constant data of the
 * program and is never null unless that is said; every offset counts bytes from the start of the
 * arena (the device's, unless another is named) and is a multiple of MTC_ALIGNMENT unless it lies
 * inside a value.
 */
#ifndef MTC_RUNTIME_ABI_PROGRAM_H
#define MTC_RUNTIME_ABI_PROGRAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MTC_ABI_VERSION 17u
#define MTC_ALIGNMENT 64
#define MTC_MAX_RANK 12

/* The section of an ELF note that marks what the compiler wrote, and the note's name; it has no
 * content. */
#define MTC_NOTE_SECTION ".note.mtc"
#define MTC_NOTE_NAME "mtc"
/* The key of a weights file's metadata under which its digest stands. */
#define MTC_WEIGHTS_DIGEST "mtc.digest"
/* The key of a weights file's metadata that says whose names and layouts its tensors have, and the
 * value for those of the user's module. */
#define MTC_WEIGHTS_NAMES "mtc.names"
#define MTC_MODULE_NAMES "module"

typedef enum MtcType {
  MTC_F64 = 0,
  MTC_F32 = 1,
  MTC_BF16 = 2,
  MTC_F16 = 3,
  MTC_I64 = 4,
  MTC_I32 = 5,
  MTC_I16 = 6,
  MTC_I8 = 7,
  MTC_U64 = 8,
  MTC_U32 = 9,
  MTC_U16 = 10,
  MTC_U8 = 11,
  MTC_BOOL = 12, /* one byte, 0 or 1 */
  MTC_F8E4M3 = 13,
  MTC_F8E5M2 = 14
} MtcType;

/* A dense row-major tensor in an arena. `dims` holds `rank` extents; null for rank 0. */
typedef struct MtcTensor {
  const char *name;
  uint32_t type; /* MtcType */
  uint32_t rank;
  const int64_t *dims;
  int64_t offset;
  int64_t bytes;
  uint32_t space; /* MtcSpace: that of its arena */
} MtcTensor;

/* Where an arena lies. Kernels and calls use the device's alone. */
typedef enum MtcSpace {
  MTC_DEVICE = 0,
  MTC_PINNED_HOST = 1, /* of the host, that a device copies from and to by itself */
  MTC_HOST = 2,
  MTC_DISK = 3 /* a file, which no address reaches */
} MtcSpace;
/* Slices on a disk that are copied by a function begin at multiples of it, and nothing else is in
 * the rest of their last page. */
#define MTC_PAGE 4096

typedef enum MtcRole {
  MTC_PARAMETER = 0, /* trained; saved, exported */
  MTC_CONSTANT = 1,  /* never written; not saved */
  MTC_STATE = 2,     /* written by steps (running statistics); saved, exported */
  MTC_GRADIENT = 3,  /* of a parameter; not saved */
  MTC_OPTIMIZER = 4, /* state of the optimizer; saved */
  MTC_SCALAR = 5,    /* a scalar that the runtime sets before each step, by name: see MtcScalars */
  MTC_AVERAGE = 6,   /* of a parameter over the steps; saved, exported in its place if asked */
  MTC_FROZEN = 7,    /* a parameter that is never written; not saved, exported */
  MTC_COPIED = 8,    /* a variable in another type; follows from it, not saved */
  MTC_LOW_HALF = 9   /* i16: of elements of f32 whose upper halves, bf16, another variable holds.
                        element = (upper << 16) + lower, as bits; saved and exported as f32 */
} MtcRole;

typedef enum MtcInitial {
  MTC_INITIAL_ZERO = 0,
  MTC_INITIAL_DATA = 1, /* `data` holds `bytes` bytes inside the program */
  MTC_INITIAL_FILE = 2, /* from the weights file, under the variable's name */
  /* random, from N(0, `spread`²), a pure function of (seed 0, variable's name, element) */
  MTC_INITIAL_NORMAL = 3,
  /* none: only `gradients` writes it, and it is allocated in the arena of that function alone */
  MTC_INITIAL_NONE = 4,
  MTC_INITIAL_SPLAT = 5,     /* each element is the one that `data` holds */
  MTC_INITIAL_PARAMETER = 6, /* the value that the parameter which it belongs to starts with */
  /* random, evenly distributed in [-`spread`, `spread`), a function of the same as the normal one
   */
  MTC_INITIAL_UNIFORM = 7
} MtcInitial;

/* Elements of a variable, and where a tensor of another file has them. Of all indices i[a] <
 * extents[a]: element `variable` + sum of i[a] * variable_strides[a] of the variable is element
 * `image` + sum of i[a] * image_strides[a] of the image. */
typedef struct MtcImagePart {
  int64_t variable, image;
  uint32_t rank; /* at least 1 */
  const int64_t *extents, *variable_strides, *image_strides;
} MtcImagePart;

/* A tensor of another file that holds elements of a variable. `dims` holds `rank` extents; null for
 * rank 0. */
typedef struct MtcTensorImage {
  const char *name;
  uint32_t rank;
  const int64_t *dims;
  uint32_t part_count; /* 0: it holds all elements of the variable, in their order */
  const MtcImagePart *parts;
} MtcTensorImage;

/* State that outlives a step. `tensor.name` is the ONNX initializer's name for parameters,
 * constants and state; gradients and optimizer state are named after it (`NAME.grad`,
 * `NAME.moment1`). */
typedef struct MtcVariable {
  MtcTensor tensor;
  uint32_t role;    /* MtcRole */
  uint32_t initial; /* MtcInitial */
  const void *data; /* null unless MTC_INITIAL_DATA or MTC_INITIAL_SPLAT */
  double spread;    /* of MTC_INITIAL_NORMAL and MTC_INITIAL_UNIFORM */
  int32_t of;       /* index of the variable, a parameter mostly, that a gradient, an optimizer
                       state, an average, a copy or a low half belongs to; -1 otherwise */
  uint32_t storage; /* MtcStorage (runtime/abi/storage.h): what `tensor` holds of `source` */
  uint32_t is_transposed;  /* `source`'s elements are stored column by column */
  const MtcTensor *source; /* the value that is stored, without an offset; null: `tensor` is */
  uint32_t is_in_module;   /* the user's module is known to have the variable */
  /* The tensors of the user's module that hold it, in groups of which each has all its elements; 0:
   * a tensor of its own name and shape. */
  uint32_t image_count;
  const MtcTensorImage *images; /* null if there are none */
} MtcVariable;

/* A tensor of the user's module that no function reads: --export-weights writes it. `tensor` has no
 * offset. */
typedef struct MtcBuffer {
  MtcTensor tensor;
  const void *data;
  uint32_t counts_batches; /* it is `data`, one integer, plus the batches that were trained */
} MtcBuffer;

/* Low-rank matrices that adapt a frozen one: its users compute with base + alpha / rank · up ·
 * down, where down is [rank, in] and up is [out, rank], and they alone are trained. All three are
 * indices of variables; the factors are f64 where the base is, otherwise f32. */
typedef struct MtcAdapter {
  int32_t base, down, up;
  uint32_t axis; /* of the base: its `in`; 1 of [out, in] */
  double alpha;
} MtcAdapter;

/* What the user feeds with --data NAME=FILE. */
typedef struct MtcInput {
  MtcTensor tensor;
  uint32_t is_label;
  /* 0: dims[0] is the batch, and a row of the file has dims[1..]. 1: no axis of it counts rows; the
   * whole tensor is the same at each step, or given anew for each. */
  uint32_t is_whole;
  /* For labels of `causal-lm` that may be left out: index of the input of token ids from which they
   * are made (shifted by one, the last -100; in a token stream the next token). -1 where labels
   * must be given. */
  int32_t shifted_from;
  /* Valid values of an integer input that is used as an index: minimum <= value < limit, or value
   * == ignored (labels). minimum == limit where there is no such rule. `reader` names the node that
   * uses it. */
  int64_t minimum, limit, ignored;
  const char *reader;
} MtcInput;

/* A kernel reports an index outside its operand here and goes on with a valid one; the runtime ends
 * the run. */
typedef struct MtcFault {
  int32_t raised;
  int64_t index;  /* what was found */
  int64_t extent; /* indices from -extent to extent - 1 are valid */
} MtcFault;

/* A generated kernel. */
typedef struct MtcKernel {
  const char *name;
  const void *code;      /* how the program's target runs it: MtcCpuKernel, MtcCudaKernel */
  int64_t scratch_bytes; /* planned for each launch */
  int64_t flops, bytes;  /* of the whole launch, for the profile */
  uint32_t may_fault;
} MtcKernel;

/* What a library, or code of the target instead, computes. A kind of call has a name and a struct,
 * its record, that describes one: runtime/abi/contraction.h and the like. Records hold no pointers
 * and no padding, so that equal bytes are equal calls. */
typedef struct MtcCall {
  const char *kind;        /* its name, such as MTC_CONTRACTION */
  const void *description; /* the record, aligned to MTC_ALIGNMENT */
  int64_t scratch_bytes;   /* planned for the library; the runtime refuses to need more */
  int64_t flops, bytes;    /* of one run, for the profile */
  const void *code; /* the target's own code for it, as a kernel has; null: a library's call */
} MtcCall;

typedef enum MtcOperationKind { MTC_LAUNCH = 0, MTC_CALL = 1, MTC_COPY = 2 } MtcOperationKind;

/* A range of the device's arena that an operation writes. It lives until the operation of the
 * number `last_use` of the function has run: the operation itself where it is scratch, none where
 * that is the number of operations. -1: it is a part of what lives already, such as a variable. */
typedef struct MtcWrite {
  int64_t offset, bytes, last_use;
  uint32_t type; /* MtcType of its elements; MTC_U8 of scratch */
} MtcWrite;

/* One entry of a function. It starts when those before it have ended, except for copies on streams,
 * of which those in `waits` have. A copy on a stream starts when the stream's copies before it have
 * ended too, and the function goes on meanwhile. Operands are arena offsets:
 * MTC_LAUNCH: the kernel's inputs, its results, its scratch if it has any; `index` into kernels.
 * MTC_CALL: the call's operands, its results, its scratch; `index` into calls.
 * MTC_COPY: source, destination, each in a space of its own; `index` is unused, `bytes` says how
 * much. */
typedef struct MtcOperation {
  uint32_t kind; /* MtcOperationKind */
  uint32_t index;
  uint32_t operand_count;
  const int64_t *operands;
  int64_t bytes;
  const char *nodes; /* names of the model's nodes that it computes, for profiles and errors */
  uint32_t wait_count;
  const int64_t *waits; /* indices in the function of copies on streams; null if none */
  /* of MTC_COPY: */
  uint32_t stream;                          /* from 1; 0: on none */
  uint32_t source_space, destination_space; /* MtcSpace */
  /* What it writes: everything in a program that checks that, otherwise values of f16, whose
   * overflow is to be found. */
  uint32_t write_count;
  const MtcWrite *writes;
} MtcOperation;

/* Runs its operations, over the arena. It has ended when all of them have. */
typedef struct MtcFunction {
  uint32_t operation_count;
  const MtcOperation *operations; /* null if none */
} MtcFunction;

/* Offsets of scalars in the arena that the runtime writes before a step; -1 where the program has
 * none. */
typedef struct MtcScalars {
  int64_t learning_rate; /* f64 */
  int64_t step;          /* i64, from 1 */
  int64_t micro_step;    /* i64, from 0 */
  int64_t seed;          /* i64 */
} MtcScalars;

/* A loss that is multiplied by a scale before its gradients are computed; -1 where the program
 * scales none. `update` divides gradients by it. Where one is not finite it changes no parameter
 * and no state, and lowers the scale. */
typedef struct MtcLossScaling {
  int64_t scale;   /* offset of the variable, an f32 scalar: what the next step uses */
  int64_t used;    /* offset of an f64 scalar that `update` gives: the scale of its step */
  int64_t skipped; /* offset of a byte that `update` gives: 1 if it changed nothing, otherwise 0 */
  double least;    /* the scale falls no further */
} MtcLossScaling;

/* Micro-steps before an update, each of `batch` rows: they add to the gradients, to a sum of losses
 * and, where not all targets count, to a number of those that do; `update` leaves zeros. The loss
 * of the update is the sum, and its gradients are the gradients, times `targets` / count. */
typedef struct MtcAccumulation {
  int64_t micro_steps; /* 1: none of the rest is used, and micro_step_loss is the update's */
  int64_t loss_sum;    /* offset of an f64 scalar */
  int64_t count;       /* offset of an f64 scalar; -1: all targets count, and the factor is 1 */
  double targets;      /* that all micro-steps have */
} MtcAccumulation;

/* How the loss of `evaluate` is averaged over a whole file. For each row of the loss: the sum of
 * the loss over its targets, how many targets that were, and how many of those were classified
 * rightly. f32 [rows] each; -1: absent. `rows` is the batch, or any number where no input has a
 * batch. Where row_loss is absent, only the scalar loss of whole batches is known. */
typedef struct MtcRowMetrics {
  int64_t row_loss, row_weight, row_correct, rows;
} MtcRowMetrics;

/* The learning rate of each step: see runtime/abi/schedule.h. */
typedef struct MtcSchedule {
  const char *kind;   /* the name of a schedule there */
  double rate, least; /* the highest; what it falls to */
  int64_t warmup;     /* steps in which it rises */
  int64_t decay;      /* steps in which it falls at the end, where that is chosen; or 0 */
  uint32_t point_count;
  const int64_t *steps; /* of the points, rising; null if there are none */
  const double *rates;
} MtcSchedule;

typedef enum MtcExportForm {
  MTC_EVERY_FORM = 0,     /* shared by the files of both forms */
  MTC_INFERENCE_FORM = 1, /* --export: dropout off, batch norm by running statistics */
  MTC_ORIGINAL_FORM = 2   /* --export-training: as the model's file */
} MtcExportForm;

/* The exported model is the concatenation of the segments of its form and of every form: constant
 * bytes, then (where variable >= 0) the bytes of that variable, converted to nothing: the file's
 * element type is the variable's.
 */
typedef struct MtcExportSegment {
  const void *bytes; /* null if byte_count is 0 */
  int64_t byte_count;
  int32_t variable;
  uint32_t type; /* MtcType of the variable's elements in the file: f16 or bf16 where those of f32
                    are rounded, otherwise theirs */
  const MtcTensorImage *image; /* that the file has of the variable; null: the variable as it is */
  uint32_t form;               /* MtcExportForm */
} MtcExportSegment;

typedef struct MtcProgram {
  uint32_t abi_version; /* MTC_ABI_VERSION */
  const char *compiler_version;
  const char *target;       /* as --target names it: "cpu", "cuda:sm_90" */
  const void *target_data;  /* what the target's programs have beside these tables: null (cpu),
                               MtcCudaProgram */
  const char *model_name;   /* of the .onnx file, without folder and ending */
  const char *weights_file; /* beside the program; "" if no variable is MTC_INITIAL_FILE */
  /* hex digest of the tensors of that file, which its metadata repeats; "" where there is none */
  const char *weights_digest;
  /* the model's file and those of its external data, which no output may replace: paths relative to
   * the program's folder, each ended by a zero, the list by another */
  const char *model_files;
  const char *fingerprint; /* hex digest of everything that a checkpoint depends on: variables,
                              shapes, optimizer */
  const char *loss;        /* as given to --loss */
  const char *optimizer;

  int64_t batch;       /* rows that a micro-step takes of inputs that are not whole; 1 if all are */
  int64_t arena_bytes; /* of the device */
  int64_t pinned_host_arena_bytes, host_arena_bytes, disk_arena_bytes;
  /* Bytes or more that nothing takes behind each value of the device's arena, in a program that
   * checks what its operations write; 0: it does not. */
  int64_t redzone;
  /* Distance from each input in the arena to the buffer into which the next batch's may be read
   * meanwhile; 0 if there is none. */
  int64_t staging;
  int64_t threads;       /* that library scratch was planned for: an upper bound of --threads */
  const char *plan_json; /* what `mtc plan --json` prints */

  uint32_t variable_count, input_count, output_count, kernel_count, call_count, segment_count,
      adapter_count, buffer_count;
  const MtcVariable *variables; /* each array is null if its count is 0 */
  const MtcInput *inputs;
  /* the graph's outputs after `compute_outputs`; one whose dims[0] is `batch` has a row for each of
   * it */
  const MtcTensor *outputs;
  const MtcKernel *kernels;
  const MtcCall *calls;
  const MtcExportSegment *segments;
  const MtcAdapter *adapters;
  const MtcBuffer *buffers;

  MtcFunction micro_step; /* inputs -> loss and gradients; updates too where `update` is empty */
  MtcFunction update;     /* gradients -> parameters, optimizer state */
  MtcFunction evaluate;   /* inputs -> loss, row metrics; writes no variable */
  /* Functions that need an arena of aside_arena_bytes. */
  MtcFunction gradients;       /* inputs -> loss and gradients; empty where micro_step does that */
  MtcFunction compute_outputs; /* inputs -> outputs; writes no variable */

  int64_t aside_arena_bytes;
  int64_t gradients_loss;
  int64_t micro_step_loss; /* offset of an f32 (f64 in a program of f64) scalar */
  int64_t evaluate_loss;
  int64_t gradient_norm; /* offset of an f64 scalar that `update` gives; -1 if it does not */
  MtcAccumulation accumulation;
  MtcLossScaling loss_scaling;
  uint32_t loss_type; /* MtcType of both */
  MtcRowMetrics row_metrics;
  MtcScalars scalars;

  MtcSchedule schedule;
} MtcProgram;

extern const MtcProgram mtc_program;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_PROGRAM_H */
