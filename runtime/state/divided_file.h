// Files that rank 0 writes, and that contain variables of which ranks have parts.
#ifndef MTC_RUNTIME_STATE_DIVIDED_FILE_H
#define MTC_RUNTIME_STATE_DIVIDED_FILE_H

#include "runtime/collectives/piece_exchange.h"
#include "runtime/devices/device.h"
#include "runtime/io/safetensors.h"
#include "runtime/support/failure.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mtc::runtime {

/// All ranks call it. Until rank 0 does so, the other ranks execute its requests: they send it
/// pieces of variables, or write them into its file.
void waitForRankZero(const MtcProgram &program, Device &device);

/// Writes variables that are divided among the ranks, or that belong to one pipeline stage, into a
/// file of rank 0, which calls these functions while the others wait for it. Ranks that see the
/// file write their own pieces, all at the same time; the pieces of the other ranks are sent to
/// rank 0. The contents of the file do not depend on which ranks see it.
class DividedFile {
public:
  DividedFile(const MtcProgram &program, Device &device, SafetensorsWriter &file);

  /// Writes variable `variable` as tensor `tensor` of the file, and returns its PieceChecksum, or
  /// the checksum of its bytes if it is not divided.
  /// Returns nullopt if `refusesNonFinite` and an element is not finite. Throws a system error that
  /// names the rank if a rank cannot write.
  std::optional<uint64_t> write(uint32_t variable, size_t tensor, bool refusesNonFinite);
  /// Makes the bytes that other ranks have written durable.
  void sync();

  struct WrittenPiece;

private:
  void open();
  /// Writes bytes [at, at + the size of a request) of the shares of all ranks that see the file.
  /// `own` is that of rank 0. Returns whether an element of another is refused.
  bool writeShares(WrittenPiece &own, uint32_t variable, size_t tensor, int64_t at,
                   std::vector<uint64_t> &checksums);
  /// Waits for the answer of a rank; adds its error to `problems`.
  PieceReply replyOf(int rank, Problems &problems);

  const MtcProgram &program;
  Device &device;
  SafetensorsWriter &file;
  std::optional<std::vector<bool>> sees; ///< by rank; nullopt until the ranks open the file
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_DIVIDED_FILE_H
