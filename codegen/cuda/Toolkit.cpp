//===- Toolkit.cpp - Location of CUDA toolkit files -------------------------------------------===//

#include "codegen/cuda/Toolkit.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <mutex>

using namespace llvm;
using namespace mtc::cuda;

namespace {

/// A file of the toolkit and its possible paths relative to a folder.
struct ToolkitFile {
  StringRef description;
  ArrayRef<StringRef> paths;
  StringRef package; ///< PyPI package that contains the file
};

constexpr StringRef libdevicePaths[] = {"nvvm/libdevice/libdevice.10.bc",
                                        "nvidia/cu13/nvvm/libdevice/libdevice.10.bc",
                                        "nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc"};
constexpr StringRef jitLinkPaths[] = {
    "lib64/libnvJitLink.so", "lib/libnvJitLink.so", "lib/libnvJitLink.so.13",
    "nvidia/cu13/lib/libnvJitLink.so.13", "nvidia/nvjitlink/lib/libnvJitLink.so.12"};

const ToolkitFile libdevice = {"libdevice.10.bc (CUDA's math library)", libdevicePaths,
                               "nvidia-nvvm"};
const ToolkitFile jitLink = {"libnvJitLink.so (CUDA's assembler)", jitLinkPaths,
                             "nvidia-nvjitlink"};

/// Returns `<mtc>/build/cuda` if the compiler is `<mtc>/build/PRESET/bin/NAME`.
std::string setupFolder() {
  SmallString<256> path(sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(reinterpret_cast<intptr_t>(&setupFolder))));
  sys::path::remove_filename(path);
  sys::path::append(path, "..", "..", "cuda");
  sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return std::string(path);
}

/// Adds the site-packages folders of a Python environment.
void addSitePackages(StringRef environment, SmallVectorImpl<std::string> &folders) {
  std::error_code error;
  for (sys::fs::directory_iterator it(environment + "/lib", error), end; it != end && !error;
       it.increment(error))
    if (sys::path::filename(it->path()).starts_with("python3"))
      folders.push_back(it->path() + "/site-packages");
}

Expected<std::string> find(const ToolkitFile &file) {
  SmallVector<std::string> folders = toolkitFolders();
  for (const std::string &folder : folders)
    for (StringRef path : file.paths)
      if (std::string candidate = folder + "/" + path.str(); sys::fs::exists(candidate))
        return candidate;
  return createStringError(
      "the target 'cuda' needs " + file.description + ", which was not found in " +
      join(folders, ", ") + "; install it with tools/setup.sh or 'pip install " + file.package +
      "', or set MTC_CUDA_PATH to the folder of a CUDA toolkit or of Python packages");
}

} // namespace

SmallVector<std::string> mtc::cuda::toolkitFolders() {
  SmallVector<std::string> folders;
  if (std::optional<std::string> folder = sys::Process::GetEnv("MTC_CUDA_PATH"))
    return {*folder};
  for (StringRef name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::optional<std::string> folder = sys::Process::GetEnv(name); folder && !folder->empty())
      folders.push_back(*folder);
  folders.push_back(setupFolder());
  folders.push_back("/usr/local/cuda");
  if (std::optional<std::string> environment = sys::Process::GetEnv("VIRTUAL_ENV"))
    addSitePackages(*environment, folders);
  return folders;
}

Expected<std::string> mtc::cuda::findLibdevice() { return find(libdevice); }
Expected<std::string> mtc::cuda::findJitLink() { return find(jitLink); }

Expected<MemoryBufferRef> mtc::cuda::getLibdevice() {
  static std::mutex mutex;
  static std::unique_ptr<MemoryBuffer> bitcode;
  std::lock_guard lock(mutex);
  if (!bitcode) {
    Expected<std::string> path = findLibdevice();
    if (!path)
      return path.takeError();
    ErrorOr<std::unique_ptr<MemoryBuffer>> read = MemoryBuffer::getFile(*path);
    if (!read)
      return createStringError(read.getError(), *path + ": " + read.getError().message());
    bitcode = std::move(*read);
  }
  return bitcode->getMemBufferRef();
}
