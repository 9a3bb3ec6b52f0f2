// Incremental checksums of tensors.
#include "runtime/io/array_on_disk.h"

#include "runtime/support/failure.h"

namespace mtc::runtime {

void ExpectedChecksum::add(int64_t at, const char *bytes, int64_t count) {
  if (at == 0) {
    sum = Checksum();
    added = 0;
  }
  if (at != added) // A rank reads its part of the tensor only.
    return;
  sum.add(bytes, count);
  added += count;
  if (added == total && sum.value() != expected)
    userError(tensor, " is damaged: its checksum is ", checksumText(sum.value()), ", expected ",
              checksumText(expected), "; ", remedy);
}

void readArray(const ArrayOnDisk &array, int64_t at, char *to, int64_t bytes) {
  array.file->read(array.offset + at, to, bytes);
  if (array.checksum)
    array.checksum->add(at, to, bytes);
}

} // namespace mtc::runtime
