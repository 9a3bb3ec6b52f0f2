//===- KernelCache.h - Compiled kernels kept between compilations -----------------------------===//
//
// A folder with one file for each kernel, named after everything that its code follows from. The
// cache can only save time: what cannot be read, or is damaged, is compiled again, and what cannot
// be written is not kept.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_KERNELCACHE_H
#define MTC_CODEGEN_KERNELCACHE_H

#include "codegen/cpu/TargetCpu.h"
#include "ir/Mtc.h"

#include "llvm/Support/MemoryBuffer.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

namespace mtc {

/// All that a kernel's object follows from, as a digest: its text, the processor, the level of
/// optimisation, and this compiler with its libraries as they were built. "" where their builds
/// cannot be told apart.
std::string kernelKey(KernelFunctionOp kernel, const cpu::Processor &processor, unsigned optLevel);

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

} // namespace mtc

#endif // MTC_CODEGEN_KERNELCACHE_H
