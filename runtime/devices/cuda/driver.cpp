// Reports errors with the driver's own messages.
#include "runtime/devices/cuda/driver.h"

#include "runtime/support/failure.h"

namespace mtc::runtime::cuda {

void check(const Driver &driver, Result result, const char *what) {
  if (result == success)
    return;
  const char *name = nullptr, *words = nullptr;
  driver.errorName(result, &name);
  driver.errorText(result, &words);
  systemError(what, ": ", words ? words : "unknown error of the CUDA driver", " (",
              name ? text(name, ", ") : std::string(), static_cast<int>(result), ")");
}

} // namespace mtc::runtime::cuda
