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

/* Returns the number of elements that a rank owns: those from rank * piece on, at most `piece`. */
static inline int64_t mtc_owned_elements(int64_t piece, int64_t total, int64_t rank) {
  const int64_t begin = rank * piece;
  return begin >= total ? 0 : total - begin < piece ? total - begin : piece;
}

/* Returns the number of elements that a rank sends to other ranks. */
static inline int64_t mtc_sent_elements(uint32_t kind, int64_t ranks, int64_t piece, int64_t total,
                                        int64_t rank) {
  const int64_t owned = mtc_owned_elements(piece, total, rank);
  return kind == MTC_ALL_TO_ALL ? total - owned : kind == MTC_ALL_GATHER ? (ranks - 1) * owned : 0;
}

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_COLLECTIVE_H */
