// Ranges of a value whose elements are in tensors of files.
#ifndef MTC_RUNTIME_STATE_TENSOR_READER_H
#define MTC_RUNTIME_STATE_TENSOR_READER_H

#include "runtime/state/image_blocks.h"
#include "runtime/state/named_weights.h"

#include <cstdint>
#include <vector>

namespace mtc::runtime {

enum class ElementOrder { RowMajor, ColumnMajor };

/// Reads elements of a value in either order, with conversion of their type, in memory of a few
/// MiB. Verifies the checksums of tensors that are read as a whole.
class TensorReader {
public:
  /// `found` have all elements of `value`.
  TensorReader(const MtcTensor &value, const std::vector<FoundTensor> &found, ElementOrder order);

  /// Returns whether ranges are consecutive bytes of one tensor.
  bool isInOrder() const { return inOrder; }
  /// Writes elements [first, first + count) of the value as elements of an MtcType.
  void read(uint32_t type, char *to, int64_t first, int64_t count) const;

private:
  struct Source {
    const ArrayOnDisk *array;
    std::vector<ImageBlock> blocks;
  };
  void readAll(const Source &source, uint32_t type, char *to) const;
  void verify() const;

  std::vector<Source> sources;
  int64_t total;
  bool inOrder;
  mutable bool isVerified = false; ///< the checksums of tensors that are not read in order
};

/// Reads elements [first, first + count) of a tensor of a file as elements of an MtcType.
void readElements(const ArrayOnDisk &array, uint32_t type, char *to, int64_t first, int64_t count);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_TENSOR_READER_H
