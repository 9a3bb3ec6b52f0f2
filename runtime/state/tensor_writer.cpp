// Elements in another order are written by runs of the file.
#include "runtime/state/tensor_writer.h"

#include "runtime/state/image_blocks.h"
#include "runtime/support/element_type.h"
#include "runtime/support/floats.h"

#include <algorithm>
#include <utility>

namespace mtc::runtime {
namespace {

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
    while (bytes > 0) {
      const int64_t some = std::min(bytes, maximum - static_cast<int64_t>(held.size()));
      if (some == maximum) {
        writeRange(from, some);
      } else {
        held.insert(held.end(), from, from + some);
        if (static_cast<int64_t>(held.size()) == maximum)
          flush();
      }
      from += some;
      bytes -= some;
    }
  }
  void flush() {
    writeRange(held.data(), static_cast<int64_t>(held.size()));
    held.clear();
  }

private:
  /// A multiple of the size of every element.
  static constexpr int64_t maximum = 8 << 20;

  void writeRange(const char *from, int64_t bytes) {
    const int64_t size = converter.sizeBefore(), after = converter.sizeAfter();
    const int64_t end = begin + bytes / size;
    for (const ImageBlock &block : blocks)
      forEachWithin(block, begin, end, [&](const ImageBlock &some) {
        gathered.resize(static_cast<size_t>(some.count() * size));
        gatherImage(some, size, from, begin, gathered.data());
        const char *elements = converter.convert(gathered.data(), some.count());
        forEachImageRun(some, [&](int64_t image, int64_t at, int64_t count) {
          write(image * after, elements + at * after, count * after);
        });
      });
    begin = end;
  }

  std::vector<ImageBlock> blocks;
  Converter &converter;
  const WriteBytes &write;
  std::vector<char> held, gathered;
  int64_t begin = 0; ///< element with which the next range starts
};

} // namespace

void writePieces(const MtcProgram &program, const std::vector<ModuleTensor::Piece> &pieces,
                 uint32_t type, const ReadVariable &read, const WriteBytes &write) {
  for (const ModuleTensor::Piece &piece : pieces) {
    const MtcTensor value = valueOf(program, piece.variable);
    Converter converter(value.type, type);
    const int64_t size = converter.sizeBefore(), after = converter.sizeAfter();
    if (isWhole(piece.image)) {
      read(piece.variable, [&](const char *from, int64_t at, int64_t bytes) {
        constexpr int64_t maximum = 4 << 20; // Arenas in memory are passed in one chunk.
        for (int64_t begin = 0; begin < bytes; begin += maximum) {
          const int64_t count = std::min(maximum, bytes - begin) / size;
          write((at + begin) / size * after, converter.convert(from + begin, count), count * after);
        }
      });
      continue;
    }
    ImageWriter writer(blocksOf(piece.image, value.bytes / size), converter, write);
    read(piece.variable,
         [&](const char *from, int64_t, int64_t bytes) { writer.add(from, bytes); });
    writer.flush();
  }
}

} // namespace mtc::runtime
