//===- DiskRates.cpp - Read and write rates of the offload disk -------------------------------===//

#include "codegen/cpu/DiskRates.h"

#include "codegen/target/KernelCache.h"
#include "runtime/abi/offload.h"

#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace mtc;
using namespace mtc::cpu;

namespace {

/// An unnamed temporary file that is accessed with direct I/O, bypassing the page cache.
class ProbeFile {
public:
  /// Copies are as large as the windows of offloaded state.
  static constexpr int64_t pieceBytes = int64_t{8} << 20, pieces = 16;

  explicit ProbeFile(const std::string &folder)
      : descriptor(open(folder.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600)),
        memory(static_cast<char *>(std::aligned_alloc(hugePage, 2 * pieceBytes))) {
    // As in the arena: requests of contiguous memory are twice as fast as those of small pages.
    if (memory)
      madvise(memory, 2 * pieceBytes, MADV_HUGEPAGE);
  }
  ~ProbeFile() {
    if (descriptor >= 0)
      close(descriptor);
    std::free(memory);
  }

  std::optional<DiskRates> measure() {
    if (descriptor < 0 || !memory || posix_fallocate(descriptor, 0, 2 * pieces * pieceBytes) != 0)
      return std::nullopt;
    std::fill(memory, memory + 2 * pieceBytes, 'x');
    // Writes the blocks that are read below, since reads of unwritten blocks do not access the
    // disk.
    if (!write(0, pieces))
      return std::nullopt;
    // Other processes only make the disk slower, so the fastest round is closest to its rate.
    std::optional<DiskRates> best;
    for (int round = 0; round < rounds; ++round) {
      std::optional<DiskRates> found = measureRound();
      if (!found)
        return std::nullopt;
      if (!best || found->read + found->write > best->read + best->write)
        best = found;
    }
    return best;
  }

private:
  static constexpr int rounds = 4;
  static constexpr size_t hugePage = size_t{2} << 20;

  /// Reads and writes all pieces at once.
  std::optional<DiskRates> measureRound() {
    double reading = 0, writing = 0;
    std::thread reader([&] { reading = seconds([&] { return read(pieces); }); });
    writing = seconds([&] { return write(pieces, pieces); });
    reader.join();
    if (reading <= 0 || writing <= 0)
      return std::nullopt;
    const auto bytes = static_cast<double>(pieces * pieceBytes);
    return DiskRates{bytes / reading, bytes / writing};
  }

  /// Returns the duration of the action, or 0 if it failed.
  template <typename Action> static double seconds(const Action &action) {
    auto begin = std::chrono::steady_clock::now();
    if (!action())
      return 0;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  bool write(int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; ++i)
      if (pwrite(descriptor, memory, pieceBytes, i * pieceBytes) != pieceBytes)
        return false;
    return true;
  }
  bool read(int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      if (pread(descriptor, memory + pieceBytes, pieceBytes, i * pieceBytes) != pieceBytes)
        return false;
    return true;
  }

  int descriptor;
  char *memory;
};

} // namespace

/// Rates are measured again after this time: other processes may have used the disk meanwhile.
static constexpr std::chrono::seconds validity = std::chrono::hours(1);

namespace {
struct KeptRates {
  DiskRates rates;
  std::chrono::seconds time = {}; ///< of the measurement, since the epoch
};
} // namespace

static std::optional<KeptRates> parseRates(llvm::StringRef text) {
  auto [read, rest] = text.trim().split('\t');
  auto [write, time] = rest.split('\t');
  KeptRates kept;
  int64_t seconds = 0;
  if (read.getAsDouble(kept.rates.read) || write.getAsDouble(kept.rates.write) ||
      time.getAsInteger(10, seconds) || kept.rates.read <= 0 || kept.rates.write <= 0)
    return std::nullopt;
  kept.time = std::chrono::seconds(seconds);
  return kept;
}

static DiskRates faster(const DiskRates &a, const DiskRates &b) {
  return a.read + a.write < b.read + b.write ? b : a;
}

/// Returns the fastest rates that have been measured on this machine: other processes only make the
/// disk slower.
static std::optional<DiskRates> measureOnce() {
  const std::string folder = mtc_default_offload_folder();
  const std::string key =
      measurementKey(llvm::formatv("rates of the disk of {0}, version 4", folder).str());
  KernelCache cache(KernelCache::defaultFolder());
  std::optional<KeptRates> kept;
  if (std::unique_ptr<llvm::MemoryBuffer> text = cache.find(key))
    kept = parseRates(text->getBuffer());
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  if (kept && now - kept->time < validity)
    return kept->rates;
  std::optional<DiskRates> rates = ProbeFile(folder).measure();
  if (rates && kept)
    rates = faster(*rates, kept->rates);
  if (rates)
    cache.add(
        key,
        llvm::formatv("{0:e17}\t{1:e17}\t{2}\n", rates->read, rates->write, now.count()).str());
  return rates ? rates : kept ? std::optional(kept->rates) : std::nullopt;
}

const DiskRates &cpu::diskRatesOf(llvm::StringRef rates, llvm::StringRef processor) {
  static const DiskRates plain;
  if (!rates.empty() || processor != "host")
    return plain;
  static const DiskRates measured = measureOnce().value_or(plain);
  return measured;
}
