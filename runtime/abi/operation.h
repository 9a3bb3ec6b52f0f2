/* The functions of a program: sequences of launches, calls, copies and transfers. */
#ifndef MTC_RUNTIME_ABI_OPERATION_H
#define MTC_RUNTIME_ABI_OPERATION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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
  const void *code; /* MtcCpuKernel on the target `cpu` and on the host, MtcGpuKernel on GPUs */
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
  MTC_REPEAT = 4,
  MTC_HOST_LAUNCH = 5
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
 * of the operations on streams it waits only for those in `waits`. An operation on a stream also
 * waits for the previous ones of that stream, and runs asynchronously to the operations that
 * follow.
 *
 * Operands are arena offsets:
 *
 * MTC_LAUNCH: the kernel's inputs, results and (optional) scratch; `index` into kernels.
 * MTC_CALL: the call's operands, results and scratch; `index` into calls.
 * MTC_COPY: source and destination, each in its memory space; `bytes` is the size.
 * MTC_TRANSFER: the inputs and outputs of the collective: values and one range of rows, one row of
 * pieces for each rank (all_to_all), pieces and values (all_gather), or values and pieces
 * (own_piece); `index` into collectives.
 * MTC_HOST_LAUNCH: the inputs and results of a kernel that the host's processor runs, in the pinned
 * host arena; `index` into kernels.
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
  uint32_t stream;      /* of a copy, a transfer or a launch on the host, from 1; 0: no stream */
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

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_OPERATION_H */
