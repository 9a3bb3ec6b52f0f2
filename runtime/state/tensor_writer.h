// Values that are written as tensors of files.
#ifndef MTC_RUNTIME_STATE_TENSOR_WRITER_H
#define MTC_RUNTIME_STATE_TENSOR_WRITER_H

#include "runtime/devices/device.h"
#include "runtime/state/module_tensors.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace mtc::runtime {

/// Receives bytes of a tensor, from its byte `at` on. All of them are written, in any order.
using WriteBytes = std::function<void(int64_t at, const char *from, int64_t bytes)>;

/// Passes the value of a variable to `use` in order, in chunks of any size.
using ReadVariable = std::function<void(uint32_t variable, const Device::Use &use)>;

/// Writes the elements that variables have of a tensor, as elements of an MtcType, in memory of a
/// few MiB. A tensor of one variable with its elements in order is written in order.
void writePieces(const MtcProgram &program, const std::vector<ModuleTensor::Piece> &pieces,
                 uint32_t type, const ReadVariable &read, const WriteBytes &write);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_TENSOR_WRITER_H
