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

#include "runtime/abi/operation.h"
#include "runtime/abi/pipeline.h"
#include "runtime/abi/variable.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MTC_ABI_VERSION 31u

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

/* A program input, which the user binds with --data NAME=FILE. All pipeline stages list all inputs;
 * in the tables of a stage that does not read an input, its offset is -1. */
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

/* Arena offsets of the scalars that the runtime writes before a step; -1 if the program does not
 * use the scalar. */
typedef struct MtcScalars {
  int64_t learning_rate; /* f64 */
  int64_t step;          /* i64, from 1 */
  int64_t micro_step;    /* i64, from 0 */
  int64_t seed;          /* i64 */
} MtcScalars;

/* A number that a flag of the program sets. The runtime writes it before the first step. Entries of
 * one name have the same value unless the program was compiled with different ones. */
typedef struct MtcSetting {
  const char *name; /* such as "weight-decay" */
  const char *flag; /* equal for numbers that are given together, in the order of their entries */
  const char *help;
  int64_t offset; /* of an f64 */
  double value;   /* as compiled */
  /* Valid are minimum <= value < limit. The smallest positive number excludes 0, and the number
   * after 1 includes 1. */
  double minimum, limit;
} MtcSetting;

/* A number that a flag sets in other programs. */
typedef struct MtcAbsentSetting {
  const char *name;
  const char *flag; /* of mtc compile, without dashes: adds the setting to a program */
} MtcAbsentSetting;

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
 * count. In a program with tasks, each stage has the variables, and those of the stage with the
 * loss are added to; `update` gathers, then resets them. */
typedef struct MtcAccumulation {
  int64_t micro_steps; /* 1: the other fields are unused, and the loss of the update is
                          micro_step_loss */
  int64_t loss_sum;    /* offset of an f64 variable */
  int64_t count;       /* offset of an f64 variable; -1: all weights are 1, and so is the factor */
  int64_t step_loss_sum; /* offset of an f64 scalar that `update` writes on every stage: the sum of
                            losses before the reset; -1 in a program without tasks */
  int64_t step_count;    /* as step_loss_sum, of the count; -1 also if all weights are 1 */
  double targets;        /* number of targets in all micro-steps */
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

/* The contents of a file after the bytes of a segment. */
typedef enum MtcSegmentKind {
  MTC_INLINE_SEGMENT = 0, /* if variable >= 0, the elements of that variable */
  MTC_GRAPH_SEGMENT = 1,  /* the start of a protobuf field: the graph, which contains all later
                             segments of the file's form; its length depends on the file's name */
  /* `bytes` are a TensorProto of the graph without its data, which is in a second file. */
  MTC_EXTERNAL_SEGMENT = 2
} MtcSegmentKind;

/* A segment of the exported model, which is the concatenation of the segments of its form and of
 * MTC_EVERY_FORM. */
typedef struct MtcExportSegment {
  const void *bytes; /* null if byte_count is 0 */
  int64_t byte_count;
  int32_t variable;
  uint32_t type; /* MtcType of the variable's elements in the file: f16 or bf16 if f32 elements are
                    rounded, otherwise the variable's type */
  const MtcTensorImage *image; /* layout of the variable in the file; null: the variable itself */
  uint32_t form;               /* MtcExportForm */
  uint32_t kind;               /* MtcSegmentKind */
} MtcExportSegment;

/* What differs between the shapes of a program: its fields of the same names are those of the first
 * shape. */
typedef struct MtcShape {
  const char *name; /* such as "batch = 8, sequence = 64" */
  int64_t batch;
  const MtcInput *inputs;   /* equal to those of the program but for dims and bytes */
  const MtcTensor *outputs; /* as many as the program has */
  MtcSequence micro_step, evaluate, compute_outputs;
  int64_t micro_step_loss, evaluate_loss;
  MtcRowMetrics row_metrics;
} MtcShape;

/* The tables of a rank. All ranks of a pipeline stage have the same ones. The tables of all stages
 * have equal arrays of variables, inputs, outputs, row metrics, segments, adapters, buffers and
 * settings except for offsets, so that an index means the same in each. Offsets of values that a
 * stage does not have are -1. A program with several stages has one shape. */
typedef struct MtcProgram {
  uint32_t abi_version; /* MTC_ABI_VERSION */
  const char *compiler_version;
  const char *target;       /* the value of --target: "cpu", "cuda:sm_90" */
  const void *target_data;  /* target-specific tables: MtcCpuProgram or MtcCudaProgram */
  const char *model_name;   /* name of the .onnx file, without folder and extension */
  const char *weights_file; /* file name in the program's folder; "" if the model has the data of
                               no variable with MTC_INITIAL_FILE */
  /* hexadecimal digest of the tensors of the weights file, equal to the digest in its metadata; ""
   * if there is no weights file */
  const char *weights_digest;
  /* file or folder of the parameters' initial values, given to the compiler: an absolute path, or
   * one relative to the program's folder; "": they are in weights_file, which otherwise has only
   * constants */
  const char *initial_weights;
  /* files of the model and its external data, which no output may overwrite: null-terminated paths
   * relative to the program's folder; the list ends with an empty path */
  const char *model_files;
  const char *fingerprint; /* hexadecimal digest of everything that a checkpoint depends on:
                              variables, shapes, optimizer */
  const char *loss;        /* the value of --loss */
  const char *optimizer;

  int64_t ranks; /* number of processes */
  /* Number of consecutive ranks that share each layer or sequence and run the same micro-steps: a
   * divisor of ranks / stages = R. Rank r runs those of an update whose number, from 0, is
   * r % R / sharing_ranks modulo R / sharing_ranks. */
  int64_t sharing_ranks;
  int64_t stages; /* number of pipeline stages: a divisor of `ranks` */
  int64_t stage;  /* number of the stage of these tables, from 0: that of R consecutive ranks */
  int64_t batch;  /* samples per micro-step of the inputs with a batch axis; 1 if there are
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
      adapter_count, buffer_count, collective_count, function_count, message_count;
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
  const MtcMessage *messages;

  MtcSequence micro_step; /* inputs -> loss and gradients; also updates if `update` is empty */
  MtcSequence update;     /* gradients -> parameters, optimizer state */
  MtcSequence evaluate;   /* inputs -> loss, row metrics; writes no variable */
  /* Functions that need an arena of separate_arena_bytes. */
  MtcSequence gradients;       /* inputs -> loss and gradients; empty if micro_step computes them */
  MtcSequence compute_outputs; /* inputs -> outputs; writes no variable */

  /* The tasks of a rank of a program with several stages; empty if there is one stage, or no such
   * function. */
  MtcTaskList micro_steps;    /* all micro-steps of an update, in place of `micro_step` */
  MtcTaskList evaluate_tasks; /* a batch, in place of `evaluate` */
  MtcTaskList outputs_tasks;  /* a batch, in place of `compute_outputs` */
  int64_t results_stage; /* the stage whose ranks have the results of evaluations and outputs */

  int64_t separate_arena_bytes;
  int64_t outputs_arena_bytes; /* as much of it as `compute_outputs` needs */
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
  /* All shapes, the first included; 0: the program has one shape, without a name. */
  uint32_t shape_count;
  const MtcShape *shapes;
  int64_t setting_count;
  const MtcSetting *settings;
  int64_t absent_setting_count;
  const MtcAbsentSetting *absent_settings;
} MtcProgram;

/* The tables of the first pipeline stage. */
extern const MtcProgram mtc_program;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_PROGRAM_H */
