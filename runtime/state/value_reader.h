// Ranges of the initial value of a variable.
#ifndef MTC_RUNTIME_STATE_VALUE_READER_H
#define MTC_RUNTIME_STATE_VALUE_READER_H

#include "runtime/state/initial_values.h"
#include "runtime/state/tensor_reader.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mtc::runtime {

/// Reads ranges of the initial value of a variable, in memory of a few MiB in addition to the
/// caller's. Consecutive ranges are fast even if a file stores the elements in another order.
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
  std::vector<char> held;              ///< elements read ahead
  int64_t heldAt = 0;                  ///< byte of the value with which they start
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_VALUE_READER_H
