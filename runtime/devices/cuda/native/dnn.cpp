// Loads the functions of cuDNN.
#include "runtime/devices/cuda/dnn.h"

#include "runtime/devices/cuda/native/shared_library.h"
#include "runtime/support/failure.h"

#include <cstdlib>
#include <type_traits>

namespace mtc::runtime::cuda::dnn {

using namespace gpu;

static constexpr size_t oldestVersion = 91900;

static const SharedLibrary &file() {
  static const SharedLibrary library({"libcudnn.so.9"});
  return library;
}

static bool isForbidden() {
  const char *wanted = std::getenv("MTC_CUDNN");
  return wanted && *wanted == '0';
}

/// Loads the functions. Returns why the library is not available, as a predicate; empty on success.
static std::string load(Library &functions) {
  if (!file().isOpen())
    return "is not installed here (looked for " + file().searched() + ")";
  std::string missing;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(file().find(name));
    if (!function)
      missing = text("lacks ", name, " as it is installed here");
  };
  find(functions.version, "cudnnGetVersion");
  find(functions.create, "cudnnCreate");
  find(functions.destroy, "cudnnDestroy");
  find(functions.setStream, "cudnnSetStream");
  find(functions.lastError, "cudnnGetLastErrorString");
  find(functions.createDescriptor, "cudnnBackendCreateDescriptor");
  find(functions.destroyDescriptor, "cudnnBackendDestroyDescriptor");
  find(functions.setAttribute, "cudnnBackendSetAttribute");
  find(functions.getAttribute, "cudnnBackendGetAttribute");
  find(functions.finalize, "cudnnBackendFinalize");
  find(functions.execute, "cudnnBackendExecute");
  if (missing.empty() && functions.version() < oldestVersion)
    missing = text("is of version ", functions.version() / 10000, ".",
                   functions.version() / 100 % 100, " here");
  return missing;
}

struct Loaded {
  Library functions = {};
  std::string missing = load(functions);
};

static const Loaded &loaded() {
  static const Loaded library;
  return library;
}

const Library *openLibrary() {
  return loaded().missing.empty() && !isForbidden() ? &loaded().functions : nullptr;
}

std::string describeAbsence() {
  return isForbidden() ? "MTC_CUDNN=0 switches off" : loaded().missing;
}

bool isPreferred() { return true; }

} // namespace mtc::runtime::cuda::dnn
