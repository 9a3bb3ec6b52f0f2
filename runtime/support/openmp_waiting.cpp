#include "runtime/support/openmp_waiting.h"

#include <cstdlib>
#include <unistd.h>

/// libgomp's entry point; null in programs that are not linked with it.
extern "C" [[gnu::weak]] void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);

namespace mtc::runtime {

void limitWaiting(const char *executable, char *const *arguments) {
  constexpr const char *count = "GOMP_SPINCOUNT";
  if (!&GOMP_parallel || std::getenv(count) || std::getenv("OMP_WAIT_POLICY"))
    return;
  if (setenv(count, "1000", /*overwrite=*/0) == 0)
    execv(executable, arguments);
}

} // namespace mtc::runtime
