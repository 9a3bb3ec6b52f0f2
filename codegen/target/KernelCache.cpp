//===- KernelCache.cpp - Persistent cache of compiled kernels ---------------------------------===//
//
// A file contains a digest of the key and the object, then the object. It is created atomically by
// renaming. LLVM's own cache (Caching.h) works similarly, but terminates the process if the disk is
// full, and does not detect damaged files.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/target/KernelCache.h"

#include "mlir/IR/Threading.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace mtc;

namespace fs = llvm::sys::fs;

static constexpr size_t digestBytes = 32;

static std::string digestOf(std::initializer_list<StringRef> parts) {
  SHA256 digest;
  for (StringRef part : parts) {
    // The length prefix gives different lists of parts different digests.
    digest.update(std::to_string(part.size()) + ":");
    digest.update(part);
  }
  return std::string(toStringRef(ArrayRef(digest.final())));
}

//===------------------------------------------------------------------------------------------===//
// Keys
//===------------------------------------------------------------------------------------------===//

/// Returns the build ID of a loaded file, or "" if it has none.
static StringRef buildId(const dl_phdr_info &file) {
  for (const ElfW(Phdr) &segment : ArrayRef(file.dlpi_phdr, file.dlpi_phnum)) {
    if (segment.p_type != PT_NOTE)
      continue;
    StringRef notes(reinterpret_cast<const char *>(file.dlpi_addr + segment.p_vaddr),
                    segment.p_memsz);
    while (notes.size() >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) header;
      std::memcpy(&header, notes.data(), sizeof(header));
      StringRef name = notes.drop_front(sizeof(header));
      StringRef content = name.drop_front(alignTo(header.n_namesz, 4));
      if (header.n_type == NT_GNU_BUILD_ID && name.starts_with("GNU"))
        return content.take_front(header.n_descsz);
      notes = content.drop_front(alignTo(header.n_descsz, 4));
    }
  }
  return {};
}

/// Returns the build IDs of the executable and of all its loaded libraries, or "" if any has none.
static const std::string &compilerIdentity() {
  static const std::string identity = [] {
    std::string ids;
    bool isComplete = dl_iterate_phdr(
                          [](dl_phdr_info *file, size_t, void *ids) {
                            StringRef id = buildId(*file);
                            static_cast<std::string *>(ids)->append(toHex(id) + " ");
                            return id.empty() ? 1 : 0;
                          },
                          &ids) == 0;
    return isComplete ? ids : std::string();
  }();
  return identity;
}

static std::string keyOf(StringRef source, StringRef machine) {
  const std::string &compiler = compilerIdentity();
  return compiler.empty() ? "" : toHex(digestOf({compiler, machine, source}), /*LowerCase=*/true);
}

std::string mtc::kernelKey(KernelFunctionOp kernel, StringRef machine) {
  std::string text;
  raw_string_ostream stream(text);
  kernel->print(stream, mlir::OpPrintingFlags().useLocalScope());
  return keyOf(text, machine);
}

std::string mtc::callKey(CallAttrInterface call, StringRef machine) {
  return keyOf((Twine(call.getKind()) + ":" + call.getBytes()).str(), machine);
}

std::string mtc::measurementKey(StringRef what) {
  return toHex(digestOf({"measured", what}), /*LowerCase=*/true);
}

//===------------------------------------------------------------------------------------------===//
// Files
//===------------------------------------------------------------------------------------------===//

std::string KernelCache::defaultFolder() {
  if (std::optional<std::string> folder = sys::Process::GetEnv("MTC_CACHE_DIR"))
    return *folder;
  SmallString<128> folder;
  if (!sys::path::cache_directory(folder))
    return "";
  sys::path::append(folder, "mtc");
  return folder.str().str();
}

/// Returns a file name that LLVM's pruning recognizes.
static std::string fileNameOf(StringRef key) { return ("llvmcache-" + key).str(); }

static Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

static Error systemError(const Twine &what) {
  return makeError(what + ": " + std::strerror(errno));
}

/// Opens the folder once; all files are opened relative to it, so that the folder cannot be
/// replaced after the check.
Error KernelCache::openFolder() {
  if (std::error_code code =
          fs::create_directories(folder, /*IgnoreExisting=*/true, fs::perms::owner_all))
    return makeError("the folder cannot be created: " + code.message());
  int opened = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0)
    return systemError("the folder cannot be opened");
  llvm::scope_exit close([&] { ::close(opened); });
  struct stat status;
  if (fstat(opened, &status) != 0)
    return systemError("the folder cannot be inspected");
  if (status.st_uid != geteuid())
    return makeError("the folder belongs to another user; set MTC_CACHE_DIR to one of your own");
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return makeError("other users may write to the folder; `chmod 700` it");
  directory = opened;
  close.release();
  return Error::success();
}

KernelCache::KernelCache(std::string path, uint64_t maxBytes)
    : folder(std::move(path)), maxBytes(maxBytes) {
  if (Error error = openFolder())
    setProblem(std::move(error));
}

KernelCache::~KernelCache() {
  if (directory >= 0)
    close(directory);
}

std::unique_ptr<MemoryBuffer> KernelCache::find(StringRef key) {
  if (directory < 0)
    return nullptr;
  // Without O_NONBLOCK, opening a FIFO would block until a writer opens it.
  int file = openat(directory, fileNameOf(key).c_str(),
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  llvm::scope_exit close([&] { ::close(file); });
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      static_cast<uint64_t>(status.st_size) > maxBytes)
    return nullptr;
  // IsVolatile reads the file instead of mapping it, so that other processes cannot modify the
  // content.
  auto content = MemoryBuffer::getOpenFile(file, key, status.st_size,
                                           /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  // Pruning uses the access time, which many file systems do not update.
  timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  (void)futimens(file, times);
  if (!content)
    return nullptr;
  StringRef bytes = (*content)->getBuffer(),
            object = bytes.drop_front(std::min(digestBytes, bytes.size()));
  if (bytes.take_front(digestBytes) != digestOf({key, object}))
    return nullptr;
  return MemoryBuffer::getMemBufferCopy(object, key);
}

/// Writes a file atomically.
Error KernelCache::write(StringRef key, StringRef object) {
  const std::string name = fileNameOf(key),
                    temporary = name + "." + utohexstr(sys::Process::GetRandomNumber());
  int file = openat(directory, temporary.c_str(),
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0)
    return systemError("a file cannot be created");
  llvm::scope_exit remove([&] { unlinkat(directory, temporary.c_str(), 0); });
  raw_fd_ostream stream(file, /*shouldClose=*/true);
  stream << digestOf({key, object}) << object;
  stream.close();
  if (std::error_code code = stream.error()) {
    stream.clear_error();
    return makeError("a file cannot be written: " + code.message());
  }
  if (renameat(directory, temporary.c_str(), directory, name.c_str()) != 0)
    return systemError(name + " cannot be replaced");
  remove.release();
  return Error::success();
}

void KernelCache::add(StringRef key, StringRef object) {
  if (directory < 0 || object.size() + digestBytes > maxBytes)
    return;
  if (Error error = write(key, object))
    setProblem(std::move(error));
  else
    hasAdded = true;
}

void KernelCache::setProblem(Error error) {
  std::lock_guard<std::mutex> lock(mutex);
  std::string text = folder + ": " + toString(std::move(error));
  if (problem.empty())
    problem = std::move(text);
}

void KernelCache::prune() {
  // LLVM writes the time of the last pruning to this file, and would follow a symbolic link.
  struct stat status;
  if (!hasAdded || (fstatat(directory, "llvmcache.timestamp", &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                    !S_ISREG(status.st_mode)))
    return;
  CachePruningPolicy policy;
  policy.Interval = std::chrono::minutes(1);
  policy.Expiration = std::chrono::seconds(0); // only the size is bounded
  policy.MaxSizeBytes = maxBytes;
  pruneCache(folder, policy);
}

std::string KernelCache::getProblem() {
  std::lock_guard<std::mutex> lock(mutex);
  return problem;
}

//===------------------------------------------------------------------------------------------===//
// Compilation
//===------------------------------------------------------------------------------------------===//

mlir::FailureOr<std::vector<std::unique_ptr<MemoryBuffer>>> mtc::compileCached(
    const CodeSources &sources, KernelCache *cache, StringRef machine,
    function_ref<mlir::LogicalResult(const CodeSources &,
                                     function_ref<void(size_t, std::unique_ptr<MemoryBuffer>)>)>
        compile) {
  const size_t kernels = sources.kernels.size(), count = kernels + sources.calls.size();
  std::vector<std::unique_ptr<MemoryBuffer>> objects(count);
  std::vector<std::string> keys(count);
  if (cache)
    mlir::parallelFor(sources.context, 0, count, [&](size_t i) {
      keys[i] = i < kernels ? kernelKey(sources.kernels[i], machine)
                            : callKey(sources.calls[i - kernels], machine);
      if (!keys[i].empty())
        objects[i] = cache->find(keys[i]);
    });
  SmallVector<size_t> missing;
  CodeSources missingSources{sources.context, {}, {}};
  for (size_t i = 0; i < count; ++i) {
    if (objects[i])
      continue;
    missing.push_back(i);
    if (i < kernels)
      missingSources.kernels.push_back(sources.kernels[i]);
    else
      missingSources.calls.push_back(sources.calls[i - kernels]);
  }
  std::atomic<size_t> done = count - missing.size();
  auto keep = [&](size_t k, std::unique_ptr<MemoryBuffer> object) {
    size_t i = missing[k];
    objects[i] = std::move(object);
    if (!keys[i].empty())
      cache->add(keys[i], objects[i]->getBuffer());
    if (sources.notify)
      sources.notify(++done, count);
  };
  if (failed(compile(missingSources, keep)))
    return mlir::failure();
  return objects;
}
