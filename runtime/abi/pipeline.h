/* Pipeline stages: the messages between their ranks, and the lists of tasks of a rank. */
#ifndef MTC_RUNTIME_ABI_PIPELINE_H
#define MTC_RUNTIME_ABI_PIPELINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A message between ranks of two pipeline stages. The sender sends its ranges of the device arena
 * one after the other, and the receiver stores the bytes in its own ranges, which have the same
 * sizes in the same order. */
typedef struct MtcMessage {
  int64_t distance; /* number of the other rank minus that of this rank */
  uint32_t is_sent; /* 0: the message is received */
  /* Number from 0, equal on both sides. Messages in one direction between two ranks have different
   * channels if they are different values; the copies of one value in several slots share one, and
   * are then sent and received in the order in which they are started. */
  uint32_t channel;
  uint32_t range_count;
  const int64_t *offsets, *bytes; /* of each range */
  const char *nodes;              /* names of the model nodes of the values, for errors */
} MtcMessage;

typedef enum MtcTaskKind {
  MTC_LOAD_TASK = 0,  /* read the batch of the micro-step into the input buffers */
  MTC_START_TASK = 1, /* start a message */
  MTC_WAIT_TASK = 2,  /* wait until a message has been sent or received */
  MTC_RUN_TASK = 3    /* run a function */
} MtcTaskKind;

/* A task of a rank. Tasks run in the order of their list; between its start and its wait, a message
 * is in progress during other tasks. A list waits for each message that it starts. */
typedef struct MtcTask {
  uint32_t kind;  /* MtcTaskKind */
  uint32_t index; /* of a message (start, wait) or a function (run); 0 for a load */
  /* Number, from 0, among the micro-steps of an update that a rank runs; 0 in a forward run. A run
   * computes with the scalars of the micro-step. */
  int64_t micro_step;
} MtcTask;

typedef struct MtcTaskList {
  uint32_t count;
  const MtcTask *tasks; /* null if there are none */
} MtcTaskList;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_PIPELINE_H */
