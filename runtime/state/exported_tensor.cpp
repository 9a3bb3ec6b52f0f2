// Elements in another order are written by runs of the file.
#include "runtime/state/exported_tensor.h"

#include "runtime/state/tensor_reader.h"
#include "runtime/support/element_type.h"
#include "runtime/support/floats.h"

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

/// Converts elements to the type of a file. Keeps its memory between uses.
class Converter {
public:
  Converter(uint32_t from, uint32_t to) : from(from), to(to) {}

  const char *convert(const char *elements, int64_t count) {
    if (from == to)
      return elements;
    converted.resize(static_cast<size_t>(count * typeBytes(to)));
    convertFloats(from, elements, count, to, converted.data());
    return converted.data();
  }
  int64_t sizeBefore() const { return typeBytes(from); }
  int64_t sizeAfter() const { return typeBytes(to); }

private:
  uint32_t from, to;
  std::vector<char> converted;
};

/// Writes a value that arrives in order as elements of a tensor that has them in another order.
class ImageWriter {
public:
  ImageWriter(std::vector<ImageBlock> blocks, Converter &converter, const WriteBytes &write)
      : blocks(std::move(blocks)), converter(converter), write(write) {}

  void add(const char *from, int64_t bytes) {
    held.insert(held.end(), from, from + bytes);
    if (held.size() >= maximum)
      flush();
  }
  void flush() {
    const int64_t size = converter.sizeBefore(), after = converter.sizeAfter();
    const int64_t end = begin + static_cast<int64_t>(held.size()) / size;
    for (const ImageBlock &block : blocks)
      forEachWithin(block, begin, end, [&](const ImageBlock &some) {
        gathered.resize(static_cast<size_t>(some.count() * size));
        gatherImage(some, size, held.data(), begin, gathered.data());
        const char *elements = converter.convert(gathered.data(), some.count());
        forEachImageRun(some, [&](int64_t image, int64_t at, int64_t count) {
          write(image * after, elements + at * after, count * after);
        });
      });
    begin = end;
    held.clear();
  }

private:
  static constexpr size_t maximum = 8 << 20;

  std::vector<ImageBlock> blocks;
  Converter &converter;
  const WriteBytes &write;
  std::vector<char> held, gathered;
  int64_t begin = 0; ///< element with which `held` starts
};

void writePiece(ExportedValues &values, const ExportedTensor &tensor,
                const ModuleTensor::Piece &piece, const MtcTensor &value, const WriteBytes &write) {
  Converter converter(value.type, tensor.type);
  const int64_t size = converter.sizeBefore(), after = converter.sizeAfter();
  if (isWhole(piece.image))
    return values.read(piece.variable, [&](const char *from, int64_t at, int64_t bytes) {
      write(at / size * after, converter.convert(from, bytes / size), bytes / size * after);
    });
  ImageWriter writer(blocksOf(piece.image, value.bytes / size), converter, write);
  values.read(piece.variable,
              [&](const char *from, int64_t, int64_t bytes) { writer.add(from, bytes); });
  writer.flush();
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
  for (const ModuleTensor::Piece &piece : tensor.pieces)
    writePiece(values, tensor, piece, valueOf(program, piece.variable), write);
}

} // namespace mtc::runtime
