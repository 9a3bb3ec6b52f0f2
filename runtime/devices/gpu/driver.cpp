// Reports errors with the driver's own messages.
#include "runtime/devices/gpu/driver.h"

#include "runtime/support/failure.h"

namespace mtc::runtime::gpu {

void check(const Driver &driver, Result result, const char *what) {
  if (result == success)
    return;
  const char *name = nullptr, *words = nullptr;
  driver.errorName(result, &name);
  driver.errorText(result, &words);
  systemError(what, ": ", words ? words : text("unknown error of the ", driver.vendor, " driver"),
              " (", name ? text(name, ", ") : std::string(), static_cast<int>(result), ")");
}

} // namespace mtc::runtime::gpu
