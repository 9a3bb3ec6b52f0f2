#ifndef MTC_MODEL_H
#define MTC_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions return a status. After a status other than MTC_MODEL_OK, mtc_model_message returns the
 * reason, and the trainer is as before the call unless the function documents otherwise.
 *
 * A trainer may be used by one thread at a time; an overlapping call returns MTC_MODEL_INVALID and
 * has no message. Different trainers are independent: each has its
 * own memory and may run in its own thread. The library never prints, exits or installs signal
 * handlers; it blocks signals in the calling thread during a call. */
typedef enum mtc_model_status {
  MTC_MODEL_OK = 0,
  MTC_MODEL_INVALID = 1, /* an invalid argument, file or value */
  MTC_MODEL_FAULT = 2    /* a fault of the device or the system, such as a full disk */
} mtc_model_status;

typedef enum mtc_model_type {
  MTC_MODEL_F64 = 0,
  MTC_MODEL_F32 = 1,
  MTC_MODEL_BF16 = 2,
  MTC_MODEL_F16 = 3,
  MTC_MODEL_I64 = 4,
  MTC_MODEL_I32 = 5,
  MTC_MODEL_I16 = 6,
  MTC_MODEL_I8 = 7,
  MTC_MODEL_U64 = 8,
  MTC_MODEL_U32 = 9,
  MTC_MODEL_U16 = 10,
  MTC_MODEL_U8 = 11,
  MTC_MODEL_BOOL = 12, /* one byte, 0 or 1 */
  MTC_MODEL_F8E4M3 = 13,
  MTC_MODEL_F8E5M2 = 14
} mtc_model_type;

/* A dense row-major tensor. `dims` has `rank` extents. Strings and extents are valid as long as the
 * library is loaded, for weights as long as the trainer exists. */
typedef struct mtc_model_tensor {
  const char *name;
  mtc_model_type type;
  uint32_t rank;
  const int64_t *dims;
  size_t bytes;
} mtc_model_tensor;

/* Uses of a trainer that need more memory than training and evaluation. */
enum {
  MTC_MODEL_INFER = 1 /* mtc_model_infer */
};

/* Options of a trainer. Zero selects the default of each field. */
typedef struct mtc_model_options {
  /* File of the initial weights (.safetensors). NULL: the file that was written with the library,
   * in the folder of the library. */
  const char *weights;
  uint64_t seed; /* of random numbers, such as dropout */
  /* Last step of a learning rate schedule that depends on it (linear, cosine). 0: the last step of
   * the first run. */
  int64_t total_steps;
  int32_t threads;    /* 0: all cores, up to the number that memory was planned for */
  uint32_t uses;      /* MTC_MODEL_INFER or 0 */
  const char *device; /* number of the GPU; NULL: the first */
  /* Folders of the offload file, separated by commas, if the model is compiled with --offload to
   * disk. NULL: $TMPDIR, or /var/tmp. */
  const char *offload_folder;
  /* Memory of at least mtc_model_memory_bytes(uses) bytes, aligned to MTC_MODEL_ALIGNMENT, that
   * outlives the trainer; for a GPU, memory of the GPU. NULL: the trainer allocates it. */
  void *memory;
  size_t memory_bytes;
  /* Receives warnings, for the duration of calls. NULL: warnings are dropped. */
  void (*warn)(void *data, const char *message);
  void *warn_data;
} mtc_model_options;

#define MTC_MODEL_ALIGNMENT 64

typedef struct mtc_model_trainer mtc_model_trainer;

/* The model. */
const char *mtc_model_name(void);
const char *mtc_model_version(void); /* version of mtc that compiled the library */
/* Returns the bytes that a trainer allocates, all of them in mtc_model_create. */
size_t mtc_model_memory_bytes(uint32_t uses);
/* Inputs, with the largest shape of a batch. Labels are inputs too. */
uint32_t mtc_model_input_count(void);
mtc_model_tensor mtc_model_input(uint32_t index);
int32_t mtc_model_input_is_label(uint32_t index);
/* Returns 0 if the first axis of an input is the batch axis, and 1 if all samples of a batch share
 * the input. */
int32_t mtc_model_input_is_shared(uint32_t index);
/* Returns the input whose next tokens labels are, so that they may be omitted; otherwise -1. */
int32_t mtc_model_input_next_of(uint32_t index);
/* Returns the value that fills an input after the end of a shorter sequence: the label that the
 * loss ignores, or 0. */
int64_t mtc_model_input_padding(uint32_t index);
/* Outputs of mtc_model_infer. */
uint32_t mtc_model_output_count(void);
mtc_model_tensor mtc_model_output(uint32_t index);
/* Shapes of batches, from the smallest inputs to the largest: one for each size of --dim, as in
 * --dim sequence=64,128. */
uint32_t mtc_model_shape_count(void);
mtc_model_tensor mtc_model_shape_input(uint32_t shape, uint32_t index);
mtc_model_tensor mtc_model_shape_output(uint32_t shape, uint32_t index);
int64_t mtc_model_shape_batch(uint32_t shape);
/* Returns the number of samples per batch of the largest shape, and of batches per update
 * (--accumulate). */
int64_t mtc_model_batch(void);
int64_t mtc_model_batches_per_update(void);
/* Returns 1 if training batches may have fewer samples. */
int32_t mtc_model_trains_smaller_batches(void);

/* Creates a trainer at step 0 with the initial weights. `options` may be NULL. On failure, *trainer
 * only holds the message (NULL if the process is out of memory), and is to be destroyed as well. */
mtc_model_status mtc_model_create(const mtc_model_options *options, mtc_model_trainer **trainer);
void mtc_model_destroy(mtc_model_trainer *trainer);
/* Returns the message of the last call that failed; valid until the next call. */
const char *mtc_model_message(const mtc_model_trainer *trainer);

/* Selects the shape of the following batches: a number below mtc_model_shape_count(), initially the
 * last one. The batches of an update may have different shapes. */
mtc_model_status mtc_model_select_shape(mtc_model_trainer *trainer, uint32_t shape);

/* Batches. `inputs` has a pointer to each input, in the order of mtc_model_input; the data is
 * copied into the trainer's memory unless the pointer is that of mtc_model_input_buffer. A null
 * pointer selects labels that the trainer derives: the next tokens of a language model, weights of
 * 1, or, for mtc_model_infer, none. Inputs that only outputs depend on may be null in training and
 * evaluation. Values are checked before the batch is used.
 *
 * `samples` is the number of samples of the batch, at most that of the shape: inputs with a batch
 * axis need no more. In training, a smaller batch requires labels of classes, or a model compiled
 * with --loss-weights; the loss is the mean over its samples. Models with batch normalization
 * include padding in their statistics. */

/* The samples at the end of an epoch that do not fill a batch. */
typedef enum mtc_model_last_batch {
  MTC_MODEL_LAST_BATCH_DEFAULT = 0, /* as in the loaded checkpoint, otherwise wrap */
  MTC_MODEL_LAST_BATCH_WRAP = 1,    /* share a batch with the first samples of the next epoch */
  MTC_MODEL_LAST_BATCH_DROP = 2,    /* are left out of the epoch */
  MTC_MODEL_LAST_BATCH_MASK = 3     /* form a smaller batch */
} mtc_model_last_batch;

/* Writes the samples of the training batch after the next `ahead` batches to `samples`
 * (as many numbers below `count` as the shape has samples), as the programs of mtc choose them from
 * `count` samples: in order, or shuffled by the seed and the epoch. Writes the number of samples of
 * the batch to `chosen`, which may be NULL; the numbers after them are padding. */
mtc_model_status mtc_model_choose_samples(mtc_model_trainer *trainer, int64_t count,
                                          int32_t shuffle, mtc_model_last_batch last, int64_t ahead,
                                          int64_t *samples, int64_t *chosen);

/* Groups `count` samples by the lengths of their sequences for a library of several shapes, as
 * programs do with --bucket-by length: a batch has samples of one group, and the smallest shape
 * that holds them. `lengths` has the lengths of each sample, one for each input in the order of
 * mtc_model_input; 0 for inputs without a sequence. `last` is not
 * MTC_MODEL_LAST_BATCH_WRAP. Writes the number of updates of an epoch; 0: all samples need the same
 * shape, and are not grouped. */
mtc_model_status mtc_model_group_samples(mtc_model_trainer *trainer, int64_t count,
                                         const int64_t *lengths, int32_t shuffle,
                                         mtc_model_last_batch last, int64_t *updates);
/* As mtc_model_choose_samples, out of the grouped samples. `samples` has space for the largest
 * batch of a shape. Writes the shape of the batch, which is to be selected when it is trained. */
mtc_model_status mtc_model_choose_grouped_samples(mtc_model_trainer *trainer, int64_t ahead,
                                                  int64_t *samples, int64_t *chosen,
                                                  uint32_t *shape);

/* Returns the memory that a batch is read from, to be filled without a copy. Its contents are
 * undefined after each call that uses a batch. */
void *mtc_model_input_buffer(mtc_model_trainer *trainer, uint32_t index);

typedef struct mtc_model_step {
  int64_t step;    /* number of updates so far */
  int32_t updated; /* 0: the gradients were accumulated, and the update follows with a later batch;
                      the other fields are those of the last update */
  int32_t skipped; /* 1: gradients were not finite, so loss scaling skipped the update */
  double loss;     /* before the update */
  double learning_rate;
  double gradient_norm; /* NaN unless compiled with --clip-norm or --grad-norm */
  double loss_scale;    /* NaN without loss scaling */
} mtc_model_step;

/* Trains on a batch: computes gradients, and updates the weights after every
 * mtc_model_batches_per_update batches; the loss is the mean over the samples of all of them. If
 * there are several, `samples` may be 0, to complete an update; the inputs then have one sample.
 * `result` may be NULL. After a failure during computation, the weights are undefined; load a
 * checkpoint. In a run, a failure can also follow an update: if the loss is not finite, or a report
 * cannot be written. */
mtc_model_status mtc_model_train(mtc_model_trainer *trainer, const void *const *inputs,
                                 int64_t samples, mtc_model_step *result);

/* Evaluation in inference mode: the metrics of a data set, such as "loss" and "accuracy", over the
 * batches between two calls of mtc_model_finish_evaluation. */
uint32_t mtc_model_metric_count(void);
const char *mtc_model_metric_name(uint32_t index);
mtc_model_status mtc_model_evaluate(mtc_model_trainer *trainer, const void *const *inputs,
                                    int64_t samples);
/* Writes mtc_model_metric_count() values and begins a new evaluation. */
mtc_model_status mtc_model_finish_evaluation(mtc_model_trainer *trainer, double *values);

/* Computes the outputs of a batch in inference mode. `outputs` has a pointer to the memory of each
 * output; a null pointer skips the output. Outputs whose first axis is the batch are written for
 * `samples` samples. Requires MTC_MODEL_INFER. */
mtc_model_status mtc_model_infer(mtc_model_trainer *trainer, const void *const *inputs,
                                 int64_t samples, void *const *outputs);

/* Runs. A run reports the following steps, and keeps track of the best validation. Without a run,
 * mtc_model_train only trains. Zero selects the default of each field. */
typedef struct mtc_model_run_options {
  int64_t last_step;         /* number of the last step of the run; 0: unknown */
  int64_t samples_per_epoch; /* 0: unknown */
  /* Folder of the run's checkpoints, which mtc_model_save writes. It is locked during the run.
   * NULL: none. */
  const char *save;
  int32_t
      keep_best; /* 1: the checkpoint of the best validation is saved in the folder `save`/best */
  /* Metric of the best validation: one of mtc_model_metric_name, or one that the caller passes to
   * mtc_model_finish_validation, whose direction is `is_higher_better`. NULL: loss. */
  const char *best_metric;
  int32_t is_higher_better;
  int64_t early_stop; /* validations without an improvement before the run ends; 0: it does not */
  /* Reports in the formats of the programs of mtc: lines of JSON, a folder of event files for
   * TensorBoard, a page of HTML. NULL: none. */
  const char *metrics, *tensorboard, *report;
  /* Receives the progress during calls: lines, and with `bar` set, a bar that replaces the previous
   * bar. It must not use the trainer. NULL: none. */
  void (*progress)(void *data, const char *text, int32_t bar);
  void *progress_data;
  int32_t progress_columns; /* width of the bar; 0: a line for each step instead */
} mtc_model_run_options;

typedef enum mtc_model_outcome {
  MTC_MODEL_COMPLETED = 0, /* all steps are done, or the run ended early */
  MTC_MODEL_STOPPED = 1,   /* by the user */
  MTC_MODEL_FAILED = 2
} mtc_model_outcome;

typedef struct mtc_model_metric {
  const char *name;
  double value;
} mtc_model_metric;

/* Begins a run, in place of the previous one. `options` may be NULL. */
mtc_model_status mtc_model_begin_run(mtc_model_trainer *trainer,
                                     const mtc_model_run_options *options);
/* Ends an evaluation as mtc_model_finish_evaluation does, and reports it as a validation of the
 * run, with `count` further metrics of the caller. Writes to `is_best`, which may be NULL, whether
 * it is the best validation so far. */
mtc_model_status mtc_model_finish_validation(mtc_model_trainer *trainer,
                                             const mtc_model_metric *metrics, uint32_t count,
                                             double *values, int32_t *best);
/* Returns 1 if early_stop ends the run, also if it ended the run that a checkpoint continues. */
int32_t mtc_model_run_stops_early(const mtc_model_trainer *trainer);
/* Ends the run. `message` is the reason in reports, or NULL. */
mtc_model_status mtc_model_end_run(mtc_model_trainer *trainer, mtc_model_outcome outcome,
                                   const char *message);

/* Returns the number of updates so far. */
int64_t mtc_model_steps(const mtc_model_trainer *trainer);
/* Returns the learning rate of the next update; NaN if it depends on a last step that is not known
 * yet. */
double mtc_model_learning_rate(const mtc_model_trainer *trainer);
/* Sets the learning rate of later updates; a negative rate restores the compiled schedule.
 * Parameter groups keep their factors. The rate is part of checkpoints. */
mtc_model_status mtc_model_set_learning_rate(mtc_model_trainer *trainer, double rate);

/* Settings: numbers that the model computes with and that can change without compiling it again, in
 * the names of mtc compile: "weight-decay", "beta1". They are part of checkpoints. Numbers of
 * parameter groups are constants. */
typedef struct mtc_model_setting_info {
  const char *name, *help; /* NULL if the index is too large */
  double compiled;         /* the value of a new trainer */
} mtc_model_setting_info;

uint32_t mtc_model_setting_count(void);
mtc_model_setting_info mtc_model_setting(uint32_t index);
mtc_model_status mtc_model_get_setting(mtc_model_trainer *trainer, const char *name, double *value);
/* Sets a setting for later batches. */
mtc_model_status mtc_model_set_setting(mtc_model_trainer *trainer, const char *name, double value);

/* Checkpoints: weights, optimizer state and step, in the format of the programs of mtc. `save`
 * needs a complete update, and refuses a folder with a checkpoint of another run. `resume` loads a
 * checkpoint to continue its run: mtc_model_group_samples and mtc_model_choose_samples then refuse
 * samples that form epochs of another number of updates. */
mtc_model_status mtc_model_save(mtc_model_trainer *trainer, const char *folder);
mtc_model_status mtc_model_load(mtc_model_trainer *trainer, const char *folder);
mtc_model_status mtc_model_resume(mtc_model_trainer *trainer, const char *folder);

/* Weights: the tensors of the original module's state_dict, in its names and layouts. */
uint32_t mtc_model_weight_count(const mtc_model_trainer *trainer);
mtc_model_tensor mtc_model_weight(const mtc_model_trainer *trainer, uint32_t index);
/* Copies a weight from or to `data`, of `bytes` bytes. `bytes` must be the size of the weight. */
mtc_model_status mtc_model_read_weight(mtc_model_trainer *trainer, const char *name, void *data,
                                       size_t bytes);
mtc_model_status mtc_model_write_weight(mtc_model_trainer *trainer, const char *name,
                                        const void *data, size_t bytes);

/* Writes the weights: to a folder for from_pretrained, or to FILE.safetensors as a state_dict. Or
 * writes the model in inference form (.onnx). */
mtc_model_status mtc_model_export_weights(mtc_model_trainer *trainer, const char *file);
mtc_model_status mtc_model_export_onnx(mtc_model_trainer *trainer, const char *file);

#ifdef __cplusplus
}
#endif

#endif /* MTC_MODEL_H */
