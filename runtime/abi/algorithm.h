/* Algorithms of library calls. */
#ifndef MTC_RUNTIME_ABI_ALGORITHM_H
#define MTC_RUNTIME_ABI_ALGORITHM_H

/* Algorithms of a contraction without batch, activation and sums, or a convolution or its
 * adjoints, on the target `cpu`. The compiler chooses the fastest by measurement; results differ in
 * rounding only. lhs and rhs are those of the contraction whose result has contiguous rows: if that
 * of the record has contiguous columns, lhs is the record's rhs. */
typedef enum MtcAlgorithm {
  MTC_AS_STORED = 0,       /* the library reads the operands where they are, where it can */
  MTC_PACKED_RHS = 1,      /* the library reads a copy of rhs in the layout that it prefers */
  MTC_PACKED_OPERANDS = 2, /* the same for both operands */
  MTC_OWN_PANELS = 3,      /* the runtime's own code */
  MTC_WINOGRAD = 4         /* Winograd, only where `mtc_has_winograd` holds */
} MtcAlgorithm;

#endif /* MTC_RUNTIME_ABI_ALGORITHM_H */
