// Strided copies, parallelized over all dimensions but the last.
#include "runtime/calls/contraction/cpu/strided_copy.h"

#include "runtime/devices/cpu/threads/parallel.h"

#include <cassert>

namespace mtc::runtime {

template <typename Element>
static void copyTyped(const StridedTensor &source, const Element *from,
                      const StridedTensor &destination, Element *to, int threads) {
  const size_t last = source.extents.size() - 1;
  int64_t lines = 1;
  for (size_t i = 0; i < last; ++i)
    lines *= source.extents[i];
  const int64_t length = source.extents[last];
  const int64_t fromStride = source.strides[last], toStride = destination.strides[last];
  parallelFor(threads, lines, 1 + 16384 / (length + 1), [&](int, int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const Element *s = from;
      Element *d = to;
      int64_t rest = line;
      for (size_t i = last; i-- > 0;) {
        int64_t index = rest % source.extents[i];
        rest /= source.extents[i];
        s += index * source.strides[i];
        d += index * destination.strides[i];
      }
      for (int64_t i = 0; i < length; ++i)
        d[i * toStride] = s[i * fromStride];
    }
  });
}

void copyStrided(const StridedTensor &source, const char *from, const StridedTensor &destination,
                 char *to, int elementBytes, int threads) {
  auto as = [&]<typename Element>() {
    copyTyped<Element>(source, reinterpret_cast<const Element *>(from), destination,
                       reinterpret_cast<Element *>(to), threads);
  };
  assert((elementBytes == 2 || elementBytes == 4) && "no such strided copy");
  if (elementBytes == 4)
    as.template operator()<uint32_t>();
  else
    as.template operator()<uint16_t>();
}

} // namespace mtc::runtime
