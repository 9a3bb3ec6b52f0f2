/* The default folder for offloaded tensors on disk. */
#ifndef MTC_RUNTIME_ABI_OFFLOAD_H
#define MTC_RUNTIME_ABI_OFFLOAD_H

#include <stdlib.h>

/* Returns $TMPDIR, or /var/tmp if it is unset or empty: unlike /tmp, /var/tmp is meant for large
 * files and is stored on disk. */
static inline const char *mtc_default_offload_folder(void) {
  const char *chosen = getenv("TMPDIR");
  return chosen && *chosen ? chosen : "/var/tmp";
}

#endif /* MTC_RUNTIME_ABI_OFFLOAD_H */
