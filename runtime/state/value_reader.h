// Ranges of the initial value of a variable.
#ifndef MTC_RUNTIME_STATE_VALUE_READER_H
#define MTC_RUNTIME_STATE_VALUE_READER_H

#include "runtime/state/initial_values.h"
#include "runtime/state/tensor_reader.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace mtc::runtime {

/// Elements of a value that were read ahead, so that consecutive small ranges are fast even if a
/// file stores the elements in another order.
class ReadAhead {
public:
  /// Writes bytes [at, at + bytes) of a value of `total` elements of `size` bytes. `fetch` writes
  /// elements [first, first + count) to its argument.
  void read(char *to, int64_t at, int64_t bytes, int64_t size, int64_t total,
            const std::function<void(char *to, int64_t first, int64_t count)> &fetch);

private:
  std::vector<char> held;
  int64_t heldAt = 0; ///< byte of the value with which they start
};

/// Reads ranges of the initial value of a variable, in memory of a few MiB in addition to the
/// caller's.
class ValueReader {
public:
  /// Elements have an MtcType.
  ValueReader(const InitialValues &values, uint32_t variable, uint32_t type,
              ElementOrder order = ElementOrder::RowMajor);

  /// Returns the size of the value.
  int64_t bytes() const { return total * size; }
  /// Returns whether small ranges are as fast as large ones.
  bool isInOrder() const {
    return tensors ? tensors->isInOrder() : order == ElementOrder::RowMajor;
  }
  /// Writes bytes [at, at + bytes) of the value; the range consists of elements.
  void read(char *to, int64_t at, int64_t bytes);

private:
  void fetch(char *to, int64_t first, int64_t count) const;
  void computeColumns(char *to, int64_t first, int64_t count) const;

  const InitialValues &values;
  uint32_t variable, type;
  MtcTensor value;
  ElementOrder order;
  int64_t size, total;                 ///< bytes of an element, number of elements
  std::optional<TensorReader> tensors; ///< if the value is in files
  ReadAhead ahead;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_VALUE_READER_H
