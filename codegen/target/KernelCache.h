//===- KernelCache.h - Persistent cache of compiled kernels -----------------------------------===//
//
// A folder with one file per kernel, named by a digest of all inputs of its code. The cache never
// causes a failure: files that cannot be read or are damaged are recompiled, and files that cannot
// be written are skipped. Programs execute cached code, so the cache neither reads nor writes
// folders and files that another user may have modified.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_TARGET_KERNELCACHE_H
#define MTC_CODEGEN_TARGET_KERNELCACHE_H

#include "codegen/target/CodeSources.h"

#include "llvm/Support/MemoryBuffer.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace mtc {

/// Returns a digest of everything that determines a kernel's object: its text, the target
/// (processor, optimization level, versions of external tools), and the build of this compiler and
/// its libraries. Returns "" if builds of the compiler cannot be distinguished.
std::string kernelKey(KernelFunctionOp kernel, llvm::StringRef machine);
/// Returns the key of a library call that the target has code for.
std::string callKey(CallAttrInterface call, llvm::StringRef machine);

/// Returns the key of a measurement, a digest of its inputs. Measurements are stored in the same
/// folder as kernels.
std::string measurementKey(llvm::StringRef what);

/// Stores compiled kernels in a folder. Processes may share the folder, and threads the object.
class KernelCache {
public:
  static constexpr uint64_t defaultMaxBytes = 512 << 20;

  /// Returns $MTC_CACHE_DIR, otherwise `mtc` in the user's cache folder ($XDG_CACHE_HOME or
  /// ~/.cache); "" if there is none.
  static std::string defaultFolder();

  /// Creates the folder if it does not exist, with access only for this user. A folder that belongs
  /// to another user or is writable by others is not used; `getProblem` reports it.
  explicit KernelCache(std::string folder, uint64_t maxBytes = defaultMaxBytes);
  ~KernelCache();
  KernelCache(const KernelCache &) = delete;
  KernelCache &operator=(const KernelCache &) = delete;

  /// Returns a kernel's object; null if it is missing, damaged, or not a regular file of this user.
  std::unique_ptr<llvm::MemoryBuffer> find(llvm::StringRef key);
  void add(llvm::StringRef key, llvm::StringRef object);
  /// Removes the least recently used files until at most `maxBytes` remain. Runs at most once a
  /// minute.
  void prune();

  /// Returns why the folder is not used or objects could not be stored; "" if there was no problem.
  std::string getProblem();

private:
  llvm::Error openFolder();
  llvm::Error write(llvm::StringRef key, llvm::StringRef object);
  void setProblem(llvm::Error error);

  std::string folder;
  uint64_t maxBytes;
  int directory = -1; ///< descriptor of the verified folder; file names are relative to it
  std::atomic<bool> hasAdded = false;
  std::mutex mutex;
  std::string problem;
};

/// Returns an object for each kernel, then each call, from the cache (if not null) or from
/// `compile`. `compile` receives the missing sources; it must call `keep` with the index of each of
/// them and its object, from any thread.
mlir::FailureOr<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
compileCached(const CodeSources &sources, KernelCache *cache, llvm::StringRef machine,
              llvm::function_ref<mlir::LogicalResult(
                  const CodeSources &missing,
                  llvm::function_ref<void(size_t, std::unique_ptr<llvm::MemoryBuffer>)>)>
                  compile);

} // namespace mtc

#endif // MTC_CODEGEN_TARGET_KERNELCACHE_H
