//===- KernelCache.h - Compiled kernels kept between compilations -----------------------------===//
//
// A folder with one file for each kernel, named after everything that its code follows from. The
// cache can only save time: what cannot be read, or is damaged, is compiled again, and what cannot
// be written is not kept.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_KERNELCACHE_H
#define MTC_CODEGEN_KERNELCACHE_H

#include "codegen/CodeSources.h"

#include "llvm/Support/MemoryBuffer.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace mtc {

/// All that a kernel's object follows from, as a digest: its text, what the code is for (the
/// machine, the level of optimisation, tools that are no part of this process) and this compiler
/// with its libraries as they were built. "" where their builds cannot be told apart.
std::string kernelKey(KernelFunctionOp kernel, llvm::StringRef machine);
/// The same for a library call that the target has code for.
std::string callKey(const CallDescription &call, llvm::StringRef machine);

/// Several processes may use one folder, and several threads one object.
class KernelCache {
public:
  static constexpr uint64_t defaultMaxBytes = 512 << 20;

  /// $MTC_CACHE_DIR, otherwise `mtc` in the user's folder for caches ($XDG_CACHE_HOME, ~/.cache);
  /// "" where there is none.
  static std::string defaultFolder();

  explicit KernelCache(std::string folder, uint64_t maxBytes = defaultMaxBytes)
      : folder(std::move(folder)), maxBytes(maxBytes) {}

  /// A kernel's object; null if it is not there or damaged.
  std::unique_ptr<llvm::MemoryBuffer> find(llvm::StringRef key);
  void add(llvm::StringRef key, llvm::StringRef object);
  /// Removes what was not used for longest until at most `maxBytes` are left; once a minute.
  void prune();

  /// Why objects could not be kept; "" if none was refused.
  std::string getProblem();

private:
  std::string pathOf(llvm::StringRef key) const;

  std::string folder;
  uint64_t maxBytes;
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

#endif // MTC_CODEGEN_KERNELCACHE_H
