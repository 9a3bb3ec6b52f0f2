//===- Cubin.cpp - Assembling of PTX to GPU machine code --------------------------------------===//

#include "codegen/cuda/Cubin.h"

#include "codegen/cuda/Toolkit.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"

#include <mutex>

using namespace llvm;
using namespace mtc::cuda;

namespace {

/// The functions of nvJitLink, as declared in its header. They return 0 on success.
struct JitLink {
  using Handle = struct Link *;
  static constexpr int ptxInput = 2;

  int (*version)(unsigned *major, unsigned *minor);
  int (*create)(Handle *handle, uint32_t optionCount, const char *const *options);
  int (*destroy)(Handle *handle);
  int (*addData)(Handle handle, int kind, const void *data, size_t size, const char *name);
  int (*complete)(Handle handle);
  int (*getErrorLogSize)(Handle handle, size_t *size);
  int (*getErrorLog)(Handle handle, char *log);
  int (*getInfoLogSize)(Handle handle, size_t *size);
  int (*getInfoLog)(Handle handle, char *log);
  int (*getLinkedCubinSize)(Handle handle, size_t *size);
  int (*getLinkedCubin)(Handle handle, void *cubin);
};

Expected<JitLink> openJitLink() {
  Expected<std::string> path = findJitLink();
  if (!path)
    return path.takeError();
  std::string reason;
  sys::DynamicLibrary library = sys::DynamicLibrary::getPermanentLibrary(path->c_str(), &reason);
  if (!library.isValid())
    return createStringError("the target 'cuda' needs nvJitLink, which cannot be opened: " +
                             reason);
  JitLink result;
  std::string missing;
  auto find = [&](auto &function, const char *name) {
    void *address = library.getAddressOfSymbol(name);
    if (!address)
      missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
  find(result.version, "nvJitLinkVersion");
  find(result.create, "nvJitLinkCreate");
  find(result.destroy, "nvJitLinkDestroy");
  find(result.addData, "nvJitLinkAddData");
  find(result.complete, "nvJitLinkComplete");
  find(result.getErrorLogSize, "nvJitLinkGetErrorLogSize");
  find(result.getErrorLog, "nvJitLinkGetErrorLog");
  find(result.getInfoLogSize, "nvJitLinkGetInfoLogSize");
  find(result.getInfoLog, "nvJitLinkGetInfoLog");
  find(result.getLinkedCubinSize, "nvJitLinkGetLinkedCubinSize");
  find(result.getLinkedCubin, "nvJitLinkGetLinkedCubin");
  if (!missing.empty())
    return createStringError(*path + " has no function '" + missing + "'; expected nvJitLink");
  return result;
}

/// Loads nvJitLink once. A failure is reported on each call.
Expected<const JitLink *> getJitLink() {
  static std::mutex mutex;
  static std::optional<JitLink> functions;
  std::lock_guard lock(mutex);
  if (!functions) {
    Expected<JitLink> opened = openJitLink();
    if (!opened)
      return opened.takeError();
    functions = *opened;
  }
  return &*functions;
}

std::string readLog(JitLink::Handle handle, decltype(JitLink::getInfoLogSize) getSize,
                    decltype(JitLink::getInfoLog) getLog) {
  size_t size = 0;
  if (getSize(handle, &size) || size == 0)
    return "";
  std::string log(size, '\0');
  if (getLog(handle, log.data()))
    return "";
  return StringRef(log).rtrim(StringRef("\0\n", 2)).str();
}

} // namespace

Expected<AssemblerVersion> mtc::cuda::getAssemblerVersion() {
  Expected<const JitLink *> link = getJitLink();
  if (!link)
    return link.takeError();
  AssemblerVersion version;
  if (int status = (*link)->version(&version.major, &version.minor))
    return createStringError("nvJitLink: its version is unknown (error " + Twine(status) + ")");
  return version;
}

Expected<Cubin> mtc::cuda::assemble(StringRef ptx, StringRef name, const Architecture &architecture,
                                    unsigned optLevel) {
  Expected<const JitLink *> found = getJitLink();
  if (!found)
    return found.takeError();
  const JitLink &link = **found;
  std::string architectureOption = "-arch=" + architecture.processor();
  std::string levelOption = "-O" + std::to_string(optLevel), nameText = name.str();
  const char *options[] = {architectureOption.c_str(), levelOption.c_str(), "-Xptxas=-v"};
  JitLink::Handle handle = nullptr;
  if (int status = link.create(&handle, std::size(options), options))
    return createStringError("nvJitLink: rejects the options " + join(ArrayRef(options), " ") +
                             " (error " + Twine(status) + "); expected version 13");
  llvm::scope_exit destroy([&] { link.destroy(&handle); });
  auto fail = [&](int status) {
    return createStringError("PTX of '" + nameText + "' cannot be assembled for " +
                             architecture.processor() + " (nvJitLink's error " + Twine(status) +
                             "): " + readLog(handle, link.getErrorLogSize, link.getErrorLog));
  };
  if (int status =
          link.addData(handle, JitLink::ptxInput, ptx.data(), ptx.size(), nameText.c_str()))
    return fail(status);
  if (int status = link.complete(handle))
    return fail(status);
  size_t size = 0;
  if (int status = link.getLinkedCubinSize(handle, &size))
    return fail(status);
  std::unique_ptr<WritableMemoryBuffer> code =
      WritableMemoryBuffer::getNewUninitMemBuffer(size, name);
  if (int status = link.getLinkedCubin(handle, code->getBufferStart()))
    return fail(status);
  return Cubin{std::move(code), readLog(handle, link.getInfoLogSize, link.getInfoLog)};
}
