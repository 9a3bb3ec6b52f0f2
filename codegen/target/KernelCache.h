//===- KernelCache.h - Compiled kernels kept between compilations -----------------------------===//
//
// A folder with one file for each kernel, named after everything that its code follows from. The
// cache can only save time: what cannot be read, or is damaged, is compiled again, and what cannot
// be written is not kept. What a cache holds is run by programs, so a folder or a file that
// somebody else may have written is not trusted: nothing is read from it, and nothing kept in it.
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

/// All that a kernel's object follows from, as a digest: its text, what the code is for (the
/// machine, the level of optimization, tools that are no part of this process) and this compiler
/// with its libraries as they were built. "" where their builds cannot be told apart.
std::string kernelKey(KernelFunctionOp kernel, llvm::StringRef machine);
/// The same for a library call that the target has code for.
std::string callKey(CallAttrInterface call, llvm::StringRef machine);

/// The key of what was measured, a digest of what it depends on. It is kept beside the kernels.
std::string measurementKey(llvm::StringRef what);

/// Several processes may use one folder, and several threads one object.
class KernelCache {
public:
  static constexpr uint64_t defaultMaxBytes = 512 << 20;

  /// $MTC_CACHE_DIR, otherwise `mtc` in the user's folder for caches ($XDG_CACHE_HOME, ~/.cache);
  /// "" where there is none.
  static std::string defaultFolder();

  /// Makes the folder, for this user alone, where it is missing. One that is another user's, or
  /// that others may write to, is not used: `getProblem` says so.
  explicit KernelCache(std::string folder, uint64_t maxBytes = defaultMaxBytes);
  ~KernelCache();
  KernelCache(const KernelCache &) = delete;
  KernelCache &operator=(const KernelCache &) = delete;

  /// A kernel's object; null if it is not there or damaged, or no regular file of this user.
  std::unique_ptr<llvm::MemoryBuffer> find(llvm::StringRef key);
  void add(llvm::StringRef key, llvm::StringRef object);
  /// Removes what was not used for longest until at most `maxBytes` are left; once a minute.
  void prune();

  /// Why the folder is not used, or objects could not be kept; "" if all went well.
  std::string getProblem();

private:
  llvm::Error openFolder();
  llvm::Error write(llvm::StringRef key, llvm::StringRef object);
  void setProblem(llvm::Error error);

  std::string folder;
  uint64_t maxBytes;
  int directory = -1; ///< the folder once it is trusted; names of files are relative to it
  std::atomic<bool> hasAdded = false;
  std::mutex mutex;
  std::string problem;
};

/// An object for each kernel, then each call, out of the cache (if there is one) or from `compile`,
/// which is given those that are missing and calls `keep` with the number of each among them, and
/// its object, from any thread.
mlir::FailureOr<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
compileCached(const CodeSources &sources, KernelCache *cache, llvm::StringRef machine,
              llvm::function_ref<mlir::LogicalResult(
                  const CodeSources &missing,
                  llvm::function_ref<void(size_t, std::unique_ptr<llvm::MemoryBuffer>)>)>
                  compile);

} // namespace mtc

#endif // MTC_CODEGEN_TARGET_KERNELCACHE_H
