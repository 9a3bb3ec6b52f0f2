// Properties of the cells of recurrent layers.
#ifndef MTC_RUNTIME_CALLS_RECURRENCE_CELL_H
#define MTC_RUNTIME_CALLS_RECURRENCE_CELL_H

#include "runtime/abi/recurrence.h"

#include <cstdint>

namespace mtc::runtime {

/// Returns the number of gates of an MtcRecurrentCell.
inline int64_t gatesOf(uint32_t cell) {
  return cell == MTC_LSTM ? 4 : cell == MTC_GRU || cell == MTC_GRU_RESET_AFTER ? 3 : 1;
}
inline bool hasAuxiliary(uint32_t cell) { return cell != MTC_RNN_TANH && cell != MTC_RNN_RELU; }

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_RECURRENCE_CELL_H
