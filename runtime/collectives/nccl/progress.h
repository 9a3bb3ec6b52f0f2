// The exchange that a device runs.
#ifndef MTC_RUNTIME_COLLECTIVES_NCCL_PROGRESS_H
#define MTC_RUNTIME_COLLECTIVES_NCCL_PROGRESS_H

#include "runtime/devices/gpu/gpu.h"
#include "runtime/devices/gpu/handles.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime::nccl {

/// A number in pinned memory that the device writes before and after each exchange. A wait can thus
/// distinguish computation from messages that do not arrive, and report these by name, although a
/// step is one graph.
class Progress {
public:
  explicit Progress(const gpu::Gpu &gpu) : gpu(gpu) {}

  /// Adds an exchange, before `start`, and returns its number.
  uint32_t add(std::string name);
  /// Allocates memory for the exchanges.
  void start(gpu::Stream stream);

  /// Enqueue the marks of an exchange.
  void markBegin(uint32_t exchange, gpu::Stream stream) const { mark(exchange, stream); }
  void markEnd(gpu::Stream stream) const { mark(0, stream); }

  /// Returns the name of the running exchange; "" if there is none.
  std::string running() const;
  /// Returns whether no exchange is running, or another one than at the last call.
  bool hasAdvanced();

private:
  void mark(uint32_t exchange, gpu::Stream stream) const;
  uint32_t read() const;

  const gpu::Gpu &gpu;
  std::vector<std::string> names; ///< of exchange 1 and the following
  std::optional<gpu::PinnedMemory>
      numbers;             ///< that of the running exchange, then the source of `table`
  gpu::DeviceMemory table; ///< the numbers 0, 1, 2, ...
  uint32_t last = 0;
};

} // namespace mtc::runtime::nccl

#endif // MTC_RUNTIME_COLLECTIVES_NCCL_PROGRESS_H
