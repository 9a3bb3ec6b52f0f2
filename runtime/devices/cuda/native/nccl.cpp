// Loads the functions of NCCL.
#include "runtime/collectives/nccl/nccl.h"

#include "runtime/devices/cuda/native/shared_library.h"
#include "runtime/support/failure.h"

#include <type_traits>

namespace mtc::runtime::nccl {

/// The first version for CUDA 12 whose messages can be captured in graphs and whose errors have
/// words.
static constexpr int oldestVersion = 21800;

static Library loadLibrary() {
  static const cuda::SharedLibrary file({"libnccl.so.2"});
  if (!file.isOpen())
    systemError("a program with several ranks exchanges values between GPUs by NCCL, which is not "
                "installed here (looked for ",
                file.searched(),
                "). It is the distribution's or NVIDIA's package libnccl2, or PyPI's "
                "nvidia-nccl-cu12 or -cu13; if it is elsewhere, set MTC_CUDA_PATH to its folder");
  Library library = {};
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(file.find(name));
  };
  auto load = [&](auto &function, const char *name) {
    find(function, name);
    if (!function)
      systemError("the installed NCCL lacks ", name, "; install version 2.18 or later");
  };
  load(library.version, "ncclGetVersion");
  load(library.statusText, "ncclGetErrorString");
  load(library.lastError, "ncclGetLastError");
  load(library.makeId, "ncclGetUniqueId");
  load(library.create, "ncclCommInitRank");
  load(library.destroy, "ncclCommDestroy");
  load(library.abort, "ncclCommAbort");
  load(library.asynchronousStatus, "ncclCommGetAsyncError");
  load(library.beginGroup, "ncclGroupStart");
  load(library.endGroup, "ncclGroupEnd");
  load(library.send, "ncclSend");
  load(library.receive, "ncclRecv");
  find(library.memoryStatistic, "ncclCommMemStats");
  int version = 0;
  if (library.version(&version) != done || version < oldestVersion)
    systemError("the installed NCCL has version ", version / 10000, ".", version / 100 % 100,
                "; install version 2.18 or later");
  return library;
}

const Library &openLibrary() {
  static const Library library = loadLibrary();
  return library;
}

} // namespace mtc::runtime::nccl
