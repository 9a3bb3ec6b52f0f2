/* Collectives: how values are divided among the ranks of a program. */
#ifndef MTC_RUNTIME_ABI_COLLECTIVE_H
#define MTC_RUNTIME_ABI_COLLECTIVE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MtcCollectiveKind {
  MTC_ALL_TO_ALL = 0, /* each piece goes to its owner, from every rank */
  MTC_ALL_GATHER = 1, /* each piece goes from its owner to every rank */
  MTC_OWN_PIECE = 2   /* each rank copies its own piece */
} MtcCollectiveKind;

/* Returns the name of a collective. */
static inline const char *mtc_collective_name(uint32_t kind) {
  return kind == MTC_ALL_TO_ALL   ? "all_to_all"
         : kind == MTC_ALL_GATHER ? "all_gather"
                                  : "own_piece";
}

/* The ranks of a program form groups of `ranks` ranks, whose numbers differ by `stride`. Returns
 * the number of a rank in its group. */
static inline int64_t mtc_number_in_group(int64_t rank, int64_t ranks, int64_t stride) {
  return rank / stride % ranks;
}

/* Returns the rank with number `number` in the group of `rank`. */
static inline int64_t mtc_rank_of_group(int64_t rank, int64_t ranks, int64_t stride,
                                        int64_t number) {
  return rank + (number - mtc_number_in_group(rank, ranks, stride)) * stride;
}

/* Returns the number of elements that the rank with number `number` in its group owns: those from
 * number * piece on, at most `piece`. */
static inline int64_t mtc_owned_elements(int64_t piece, int64_t total, int64_t number) {
  const int64_t begin = number * piece;
  return begin >= total ? 0 : total - begin < piece ? total - begin : piece;
}

/* Returns the number of elements that this rank sends to the other ranks of its group. */
static inline int64_t mtc_sent_elements(uint32_t kind, int64_t ranks, int64_t piece, int64_t total,
                                        int64_t number) {
  const int64_t owned = mtc_owned_elements(piece, total, number);
  return kind == MTC_ALL_TO_ALL ? total - owned : kind == MTC_ALL_GATHER ? (ranks - 1) * owned : 0;
}

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_COLLECTIVE_H */
