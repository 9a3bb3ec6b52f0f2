// Values of buffers, of the original weights and of variables.
#include "runtime/state/exported_tensor.h"

#include "runtime/state/tensor_reader.h"
#include "runtime/support/element_type.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {
namespace {

template <typename Count> void addTo(std::vector<char> &value, int64_t added) {
  Count count;
  std::memcpy(&count, value.data(), sizeof count);
  count = static_cast<Count>(count + static_cast<Count>(added));
  std::memcpy(value.data(), &count, sizeof count);
}

/// Returns the bytes of a buffer of the module after `batches` trained batches.
std::vector<char> valueOf(const MtcBuffer &buffer, int64_t batches) {
  const auto *data = static_cast<const char *>(buffer.data);
  std::vector<char> value(data, data + buffer.tensor.bytes);
  if (!buffer.counts_batches)
    return value;
  switch (buffer.tensor.bytes) {
  case 1:
    addTo<uint8_t>(value, batches);
    break;
  case 2:
    addTo<uint16_t>(value, batches);
    break;
  case 4:
    addTo<uint32_t>(value, batches);
    break;
  default:
    addTo<uint64_t>(value, batches);
  }
  return value;
}

void copyOriginal(const ExportedTensor &tensor, const WriteBytes &write) {
  constexpr int64_t maximum = 1 << 20;
  const int64_t size = typeBytes(tensor.type), count = tensor.bytes() / size;
  std::vector<char> elements(static_cast<size_t>(std::min(maximum, count) * size));
  for (int64_t at = 0; at < count; at += maximum) {
    const int64_t some = std::min(maximum, count - at);
    readElements(*tensor.original, tensor.type, elements.data(), at, some);
    write(at * size, elements.data(), some * size);
  }
}

} // namespace

int64_t ExportedTensor::bytes() const {
  return *elementCount(dims, typeBytes(type)) * typeBytes(type);
}

void writeTensor(const MtcProgram &program, ExportedValues &values, const ExportedTensor &tensor,
                 int64_t batches, const WriteBytes &write) {
  if (tensor.buffer) {
    const std::vector<char> value = valueOf(*tensor.buffer, batches);
    return write(0, value.data(), static_cast<int64_t>(value.size()));
  }
  if (tensor.original)
    copyOriginal(tensor, write);
  writePieces(
      program, tensor.pieces, tensor.type,
      [&](uint32_t variable, const Device::Use &use) { values.read(variable, use); }, write);
}

} // namespace mtc::runtime
