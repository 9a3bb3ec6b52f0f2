// Checksums of tensors in checkpoints and weights files.
#ifndef MTC_RUNTIME_IO_CHECKSUM_H
#define MTC_RUNTIME_IO_CHECKSUM_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Incremental XXH64 with seed 0, from Yann Collet's specification of xxHash: a fast checksum that
/// detects corruption. The result does not depend on how the data is split.
class Checksum {
public:
  Checksum();

  void add(const void *piece, int64_t bytes);
  uint64_t value() const;

private:
  std::array<uint64_t, 4> lanes;
  uint64_t total = 0;
  std::array<unsigned char, 32> rest{}; ///< the last total % 32 bytes
};

/// The shares of data of which several processes may write one each.
struct PieceSizes {
  int64_t bytes = 0; ///< of every piece but the last; 0: the data is not divided
  /// Pieces belong to the parts in turn; 0: each piece is a share.
  int64_t parts = 0;
  /// Size of every share of a part but the last; 0: each part is a share. Share i is share i /
  /// parts of part i % parts.
  int64_t bytesOfShare = 0;
  /// Padding follows each block of this size up to a multiple of `parts` pieces, and counts as
  /// bytes of the shares; 0: there is no padding.
  int64_t bytesOfBlock = 0;
};

/// The checksum of data whose shares several processes may write. It is the checksum of the shares'
/// checksums, as little-endian words in order. Data that is not divided has the checksum of its
/// bytes.
class PieceChecksum {
public:
  explicit PieceChecksum(const PieceSizes &sizes = {})
      : sizes(sizes), parts(static_cast<size_t>(sizes.parts)) {}

  /// Begins again.
  void restart() { *this = PieceChecksum(sizes); }
  /// Adds the next bytes; pieces may be split in any way.
  void add(const void *bytes, int64_t count);
  /// Adds the checksum of the next share. Empty shares have no checksum.
  void addPiece(uint64_t checksum);
  uint64_t value() const;

private:
  /// Skips the padding after a block.
  void skipPadding();

  /// The shares of a part.
  struct Part {
    std::vector<uint64_t> complete;
    Checksum share;      ///< that is being added
    int64_t inShare = 0; ///< bytes of it

    void endShare();
    /// Counts bytes of padding.
    void skip(int64_t bytes, int64_t bytesOfShare);
  };

  PieceSizes sizes;
  int64_t inPiece = 0;     ///< bytes of the piece that is being added
  int64_t inBlock = 0;     ///< bytes of the block that is being added
  Checksum piece;          ///< of that piece, if it is a share
  Checksum pieces;         ///< of the checksums of complete shares
  std::vector<Part> parts; ///< if shares consist of several pieces
  int64_t number = 0;      ///< of the piece that is being added
};

inline constexpr size_t checksumDigits = 16;
/// Returns the checksum as `checksumDigits` hexadecimal digits.
std::string checksumText(uint64_t value);
/// The inverse; nullopt if `text` is not a checksum.
std::optional<uint64_t> parseChecksum(const std::string &text);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_CHECKSUM_H
