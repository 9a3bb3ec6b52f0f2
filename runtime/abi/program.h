/* The ABI between a compiled program and the runtime.
 *
 * The compiler emits one constant `MtcProgram mtc_program` into the object file of every program;
 * the runtime that is linked to it reads nothing else. The ABI is C, so that both sides agree on
 * the layout, and neither side includes other headers of the other. Every pointer refers to
 * constant data of the program and is non-null unless documented otherwise. Every offset is in
 * bytes from the start of an arena (the device arena unless another is named) and is a multiple of
 * MTC_ALIGNMENT, except for offsets inside a value. */
#ifndef MTC_RUNTIME_ABI_PROGRAM_H
#define MTC_RUNTIME_ABI_PROGRAM_H

#include "runtime/abi/element_types.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MTC_ABI_VERSION 23u
#define MTC_ALIGNMENT 64
#define MTC_MAX_RANK 12

/* Section and name of the ELF note that marks programs written by the compiler. The note has no
 * contents. */
#define MTC_NOTE_SECTION ".note.mtc"
#define MTC_NOTE_NAME "mtc"
/* Metadata key of the digest in a weights file. */
#define MTC_WEIGHTS_DIGEST "mtc.digest"
/* Metadata key of a weights file for the origin of its tensors' names and layouts, and the value
 * for those of the user's PyTorch module. */
#define MTC_WEIGHTS_NAMES "mtc.names"
#define MTC_MODULE_NAMES "module"

/* A dense row-major tensor in an arena. `dims` has `rank` extents; null for rank 0. */
typedef struct MtcTensor {
  const char *name;
  uint32_t type; /* MtcType */
  uint32_t rank;
  const int64_t *dims;
  int64_t offset;
  int64_t bytes;
  uint32_t space; /* MtcSpace of its arena */
} MtcTensor;

/* Memory space of an arena. Kernels and calls access only the device arena. */
typedef enum MtcSpace {
  MTC_DEVICE = 0,
  MTC_PINNED_HOST = 1, /* page-locked host memory, accessible to the device's copy engines */
  MTC_HOST = 2,
  MTC_DISK = 3 /* a file, which is not addressable */
} MtcSpace;
/* Alignment of the disk ranges that a function copies: each begins at a multiple of MTC_PAGE and
 * shares its last page with no other range. */
#define MTC_PAGE 4096

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
  /* random, from N(0, `spread`²), a pure function of (seed 0, variable's name, element index) */
  MTC_INITIAL_NORMAL = 3,
  /* uninitialized: written only by `gradients`, and allocated only in the arena of that function */
  MTC_INITIAL_NONE = 4,
  MTC_INITIAL_SPLAT = 5,     /* every element is the one stored in `data` */
  MTC_INITIAL_PARAMETER = 6, /* the initial value of the parameter given by MtcVariable::of */
  /* random, uniform in [-`spread`, `spread`), a pure function of (seed 0, variable's name, element
   * index) */
  MTC_INITIAL_UNIFORM = 7
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
  const void *data; /* null unless MTC_INITIAL_DATA or MTC_INITIAL_SPLAT */
  double spread;    /* parameter of MTC_INITIAL_NORMAL and MTC_INITIAL_UNIFORM */
  int32_t of;       /* index of the variable, usually a parameter, to which a gradient, optimizer
                       state, average, copy or low half belongs; -1 otherwise */
  uint32_t storage; /* MtcStorage (runtime/abi/storage.h) of `source` in `tensor` */
  uint32_t is_transposed;  /* `source` is stored column-major */
  const MtcTensor *source; /* the value before compression, without an offset; null: `tensor` is the
                              value itself */
  /* The variable of all ranks, without an offset, of which `tensor` is the piece of this rank.
   * Null: every rank has all elements. Runs of `run` elements belong to the `parts` ranks of a
   * group in turn (runtime/abi/collective.h): element e to number e / run % parts. A flat piece is
   * one run. */
  const MtcTensor *whole;
  int64_t run, parts, stride; /* 0 if `whole` is null */
  uint32_t is_in_module;      /* the variable is known to exist in the user's module */
  /* The tensors of the user's module that hold the variable, in groups that each cover all of its
   * elements; 0: one tensor of the same name and shape. */
  uint32_t image_count;
  const MtcTensorImage *images; /* null if there are none */
} MtcVariable;

/* A buffer of the user's module that no function reads; --export-weights writes it. `tensor` has no
 * offset. */
typedef struct MtcBuffer {
  MtcTensor tensor;
  const void *data;
  uint32_t counts_batches; /* the exported value is `data`, one integer, plus the number of trained
                              batches */
} MtcBuffer;

/* A low-rank adapter of a frozen matrix. Users of the matrix compute with
 * base + (alpha / rank) up @ down, where down is [rank, in] and up is [out, rank]; only the factors
 * are trained. All three fields are indices of variables; the factors are f64 if the base is f64,
 * otherwise f32. */
typedef struct MtcAdapter {
  int32_t base, down, up;
  uint32_t axis; /* axis of `in` in the base: 1 if the base is [out, in] */
  double alpha;
} MtcAdapter;

/* A program input, which the user binds with --data NAME=FILE. */
typedef struct MtcInput {
  MtcTensor tensor;
  uint32_t is_label;
  /* The value `ignored` pads sequences of labels; 0: it excludes targets from the loss. */
  uint32_t is_padded;
  /* 0: dims[0] is the batch axis, and each sample of the file has shape dims[1..]. 1: the input has
   * no batch axis; the whole tensor is either the same at each step or given anew for each step. */
  uint32_t is_whole;
  /* Only compute_outputs reads the input: training and evaluation need no data for it. */
  uint32_t is_of_outputs;
  /* Index of the token-id input from which omitted labels of `causal-lm` are derived: shifted by
   * one, the last one -100; in a token stream, the next token. -1 if the labels are required. */
  int32_t shifted_from;
  /* Valid values of an integer input that is used as an index: minimum <= value < limit, or value
   * == ignored (labels). minimum == limit if the range is unrestricted. `user` is the name of the
   * node that uses the index. */
  int64_t minimum, limit, ignored;
  const char *user;
} MtcInput;

/* An out-of-range index reported by a kernel. The kernel continues with a valid index; the runtime
 * ends the run. */
typedef struct MtcFault {
  int32_t raised;
  int64_t index;  /* the invalid index */
  int64_t extent; /* valid indices are -extent to extent - 1 */
} MtcFault;

/* A generated kernel. */
typedef struct MtcKernel {
  const char *name;
  const void *code;      /* target-specific: MtcCpuKernel or MtcGpuKernel */
  int64_t scratch_bytes; /* planned for each launch */
  int64_t flops, bytes;  /* of the whole launch, for profiles */
  uint32_t may_fault;
} MtcKernel;

/* A call that a library, or the target's own code, computes. Each kind has a name and a record type
 * that describes the call: see runtime/abi/contraction.h and the other records. Records contain no
 * pointers and no padding, so that equal calls have equal bytes. */
typedef struct MtcCall {
  const char *kind;        /* such as MTC_CONTRACTION */
  const void *description; /* the record, aligned to MTC_ALIGNMENT */
  int64_t scratch_bytes;   /* planned for the library, which must not need more */
  int64_t flops, bytes;    /* of one run, for profiles */
  const void *code; /* the target's own code, as in MtcKernel; null: a library computes the call */
} MtcCall;

/* An exchange of values with the other ranks: see runtime/abi/collective.h. */
typedef struct MtcCollective {
  uint32_t kind;  /* MtcCollectiveKind */
  uint32_t count; /* number of values */
  /* The groups, whose values are independent: see runtime/abi/collective.h. With one rank, every
   * rank copies its own values. */
  int64_t ranks, stride;
  int64_t element_bytes;
  const int64_t *pieces, *totals; /* elements of a piece of each value, and of each value */
} MtcCollective;

typedef enum MtcOperationKind {
  MTC_LAUNCH = 0,
  MTC_CALL = 1,
  MTC_COPY = 2,
  MTC_TRANSFER = 3,
  MTC_REPEAT = 4
} MtcOperationKind;

/* A range of the device arena that an operation writes. It is live until operation `last_use` of
 * the function has run: the writing operation itself for scratch, no operation if `last_use` is the
 * operation count. -1: the range is part of memory that is already live, such as a variable. */
typedef struct MtcWrite {
  int64_t offset, bytes, last_use;
  uint32_t type;  /* MtcType of its elements; MTC_U8 for scratch */
  int64_t stride; /* bytes by which the range moves from one iteration of a repeat to the next */
} MtcWrite;

/* An operation of a function. It starts after all previous operations have completed, except that
 * of the copies and transfers on streams it waits only for those in `waits`. A copy or transfer on
 * a stream also waits for the previous ones of that stream, and runs asynchronously to the
 * operations that follow.
 *
 * Operands are arena offsets:
 *
 * MTC_LAUNCH: the kernel's inputs, results and (optional) scratch; `index` into kernels.
 * MTC_CALL: the call's operands, results and scratch; `index` into calls.
 * MTC_COPY: source and destination, each in its memory space; `bytes` is the size.
 * MTC_TRANSFER: the inputs and outputs of the collective: values and one range of rows, one row of
 * pieces for each rank (all_to_all), pieces and values (all_gather), or values and pieces
 * (own_piece); `index` into collectives.
 * MTC_REPEAT: none. The `index` operations that follow, which are launches, calls and copies
 * without streams, run `iterations` times, one iteration after another. */
typedef struct MtcOperation {
  uint32_t kind; /* MtcOperationKind */
  uint32_t index;
  uint32_t operand_count;
  const int64_t *operands;
  /* In a repeat: bytes by which each operand moves between iterations; null: none moves */
  const int64_t *strides;
  int64_t bytes;
  int64_t iterations; /* of MTC_REPEAT */
  const char *nodes;  /* names of the model nodes that it computes, for profiles and errors */
  uint32_t wait_count;
  const int64_t *waits; /* indices of operations on streams in the same function; null if none */
  uint32_t stream;      /* of a copy or transfer, from 1; 0: no stream */
  /* For MTC_COPY: */
  uint32_t source_space, destination_space; /* MtcSpace */
  /* Ranges that the operation writes: all of them in a program compiled with memory checks;
   * otherwise only those with f16 values, which are searched for overflow. */
  uint32_t write_count;
  const MtcWrite *writes;
} MtcOperation;

/* A sequence of operations over the arena. The function has completed when all operations have. */
typedef struct MtcFunction {
  uint32_t operation_count;
  const MtcOperation *operations; /* null if there are none */
} MtcFunction;

/* Functions that run one after the other, by their indices in MtcProgram::functions. */
typedef struct MtcSequence {
  uint32_t count;
  const uint32_t *functions; /* null if there are none */
} MtcSequence;

/* Arena offsets of the scalars that the runtime writes before a step; -1 if the program does not
 * use the scalar. */
typedef struct MtcScalars {
  int64_t learning_rate; /* f64 */
  int64_t step;          /* i64, from 1 */
  int64_t micro_step;    /* i64, from 0 */
  int64_t seed;          /* i64 */
} MtcScalars;

/* Loss scaling. The loss is multiplied by the scale before the gradients are computed, and `update`
 * divides the gradients by it. If a gradient is not finite, `update` changes no parameter or state
 * and lowers the scale. All offsets are -1 if the program does not scale its loss. */
typedef struct MtcLossScaling {
  int64_t scale;    /* offset of the scale of the next step, an f32 variable */
  int64_t used;     /* offset of an f64 scalar that `update` writes: the scale of its step */
  int64_t skipped;  /* offset of a byte that `update` writes: 1 if it skipped the step, else 0 */
  double min_scale; /* minimum scale */
} MtcLossScaling;

/* Gradient accumulation. Each of the `micro_steps` micro-steps of all ranks before an update, of
 * `batch` samples each, adds to the gradients, to the sum of losses and, if targets can be ignored
 * or weighted, to the count, which is the sum of the weights of the targets; `update` resets them
 * to zero. The loss and the gradients of the update are the accumulated values times `targets` /
 * count. */
typedef struct MtcAccumulation {
  int64_t micro_steps; /* 1: the other fields are unused, and the loss of the update is
                          micro_step_loss */
  int64_t loss_sum;    /* offset of an f64 scalar */
  int64_t count;       /* offset of an f64 scalar; -1: all weights are 1, and so is the factor */
  double targets;      /* number of targets in all micro-steps */
} MtcAccumulation;

/* How a value per sample of `evaluate` is accumulated over the samples of a file. */
typedef enum MtcRowKind {
  MTC_ROW_SUM = 0,    /* f32 [rows], which is added */
  MTC_ROW_CLASSES = 1 /* i32 [rows, targets of a sample]: classes, of which pairs are counted */
} MtcRowKind;

/* A value per sample that `evaluate` computes. */
typedef struct MtcRowValue {
  const char *name; /* see runtime/abi/row_values.h */
  uint32_t kind;    /* MtcRowKind */
  int64_t offset;
  int64_t count; /* elements of a row */
} MtcRowValue;

/* The values from which the loss and the metrics of a whole file are computed. `rows` is the batch
 * size, or any number if no input has a batch axis. Without the value `loss` only the scalar loss
 * of whole batches is known. */
typedef struct MtcRowMetrics {
  int64_t rows;
  uint32_t value_count;
  const MtcRowValue *values; /* null if there are none */
} MtcRowMetrics;

/* The learning rate schedule: see runtime/abi/schedule.h. */
typedef struct MtcSchedule {
  const char *kind;      /* name of an entry of `schedules` */
  double rate, min_rate; /* peak and minimum learning rate */
  int64_t warmup;        /* number of warm-up steps */
  int64_t decay;         /* number of final decay steps, if the schedule has them and the user sets
                            them; otherwise 0 */
  uint32_t point_count;
  const int64_t *steps; /* steps of the points, increasing; null if there are none */
  const double *rates;
} MtcSchedule;

typedef enum MtcExportForm {
  MTC_EVERY_FORM = 0,     /* part of the files of both forms */
  MTC_INFERENCE_FORM = 1, /* --export: without dropout, with running statistics in batch norm */
  MTC_ORIGINAL_FORM = 2   /* --export-training: the form of the original model file */
} MtcExportForm;

/* A segment of the exported model, which is the concatenation of the segments of its form and of
 * MTC_EVERY_FORM: constant bytes, then, if variable >= 0, the elements of that variable. */
typedef struct MtcExportSegment {
  const void *bytes; /* null if byte_count is 0 */
  int64_t byte_count;
  int32_t variable;
  uint32_t type; /* MtcType of the variable's elements in the file: f16 or bf16 if f32 elements are
                    rounded, otherwise the variable's type */
  const MtcTensorImage *image; /* layout of the variable in the file; null: the variable itself */
  uint32_t form;               /* MtcExportForm */
} MtcExportSegment;

/* The tables of a rank. All ranks of a pipeline stage have the same ones. */
typedef struct MtcProgram {
  uint32_t abi_version; /* MTC_ABI_VERSION */
  const char *compiler_version;
  const char *target;       /* the value of --target: "cpu", "cuda:sm_90" */
  const void *target_data;  /* target-specific tables: MtcCpuProgram or MtcCudaProgram */
  const char *model_name;   /* name of the .onnx file, without folder and extension */
  const char *weights_file; /* file name in the program's folder; "" if no variable is
                               MTC_INITIAL_FILE */
  /* hexadecimal digest of the tensors of the weights file, equal to the digest in its metadata; ""
   * if there is no weights file */
  const char *weights_digest;
  /* files of the model and its external data, which no output may overwrite: null-terminated paths
   * relative to the program's folder; the list ends with an empty path */
  const char *model_files;
  const char *fingerprint; /* hexadecimal digest of everything that a checkpoint depends on:
                              variables, shapes, optimizer */
  const char *loss;        /* the value of --loss */
  const char *optimizer;

  int64_t ranks; /* number of processes. Rank r runs the micro-steps of an update whose number,
                    from 0, is r modulo `ranks` */
  int64_t batch; /* samples per micro-step of the inputs with a batch axis; 1 if there are
                    none */
  int64_t arena_bytes; /* size of the device arena */
  int64_t pinned_host_arena_bytes, host_arena_bytes, disk_arena_bytes;
  /* Minimum number of unused bytes after each value of the device arena, in a program compiled with
   * memory checks; otherwise 0. */
  int64_t redzone;
  /* Distance in bytes from each input in the arena to the staging buffer into which the next batch
   * may be read during a step; 0 if there is none. */
  int64_t staging;
  int64_t threads;       /* number of threads for which library scratch was planned: the maximum of
                            --threads */
  const char *plan_json; /* the output of `mtc plan --json` */

  uint32_t variable_count, input_count, output_count, kernel_count, call_count, segment_count,
      adapter_count, buffer_count, collective_count, function_count;
  const MtcVariable *variables; /* each array is null if its count is 0 */
  const MtcInput *inputs;
  /* The graph's outputs after `compute_outputs`. An output whose dims[0] equals `batch` has one row
   * per sample. */
  const MtcTensor *outputs;
  const MtcKernel *kernels;
  const MtcCall *calls;
  const MtcExportSegment *segments;
  const MtcAdapter *adapters;
  const MtcBuffer *buffers;
  const MtcCollective *collectives;
  const MtcFunction *functions;

  MtcSequence micro_step; /* inputs -> loss and gradients; also updates if `update` is empty */
  MtcSequence update;     /* gradients -> parameters, optimizer state */
  MtcSequence evaluate;   /* inputs -> loss, row metrics; writes no variable */
  /* Functions that need an arena of separate_arena_bytes. */
  MtcSequence gradients;       /* inputs -> loss and gradients; empty if micro_step computes them */
  MtcSequence compute_outputs; /* inputs -> outputs; writes no variable */

  int64_t separate_arena_bytes;
  int64_t gradients_loss;
  int64_t micro_step_loss; /* offset of an f32 scalar (f64 in an f64 program) */
  int64_t evaluate_loss;
  int64_t gradient_norm; /* offset of an f64 scalar that `update` writes; -1 if it does not */
  MtcAccumulation accumulation;
  MtcLossScaling loss_scaling;
  uint32_t loss_type; /* MtcType of the micro-step and evaluation losses */
  MtcRowMetrics row_metrics;
  MtcScalars scalars;

  MtcSchedule schedule;
  /* The tables of the following pipeline stages, each without following stages: see
   * runtime/support/stages.h. */
  uint32_t following_stage_count; /* 0: all ranks have this table */
  const struct MtcProgram *following_stages;
} MtcProgram;

/* The tables of the first pipeline stage. */
extern const MtcProgram mtc_program;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_PROGRAM_H */
