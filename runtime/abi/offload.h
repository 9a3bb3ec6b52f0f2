/* Where programs keep what does not stay in memory, unless they are told. */
#ifndef MTC_RUNTIME_ABI_OFFLOAD_H
#define MTC_RUNTIME_ABI_OFFLOAD_H

#include <stdlib.h>

/* $TMPDIR; without it /var/tmp, which, unlike /tmp, is for large files and on a disk. */
static inline const char *mtc_default_offload_folder(void) {
  const char *chosen = getenv("TMPDIR");
  return chosen && *chosen ? chosen : "/var/tmp";
}

#endif /* MTC_RUNTIME_ABI_OFFLOAD_H */
