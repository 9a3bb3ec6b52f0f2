// The functions of cuDNN out of its library.
#include "runtime/devices/cuda/dnn.h"

#include "runtime/devices/cuda/native/shared_library.h"

#include <cstdlib>
#include <type_traits>

namespace mtc::runtime::cuda::dnn {

static constexpr size_t oldestVersion = 91900;

/// False if a function is missing or the library is too old.
static bool load(Library &functions) {
  static const SharedLibrary library({"libcudnn.so.9"});
  if (!library.isOpen())
    return false;
  bool isWhole = true;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.find(name));
    isWhole &= function != nullptr;
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
  return isWhole && functions.version() >= oldestVersion;
}

const Library *openLibrary() {
  static Library functions = {};
  static const bool isOpen = load(functions);
  const char *wanted = std::getenv("MTC_CUDNN");
  return isOpen && !(wanted && *wanted == '0') ? &functions : nullptr;
}

} // namespace mtc::runtime::cuda::dnn
