// Offsets are read row by row, so that the memory does not grow with the file.
#include "runtime/data/ragged_column.h"

#include "runtime/data/value_conversion.h"
#include "runtime/data/value_range.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/integers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace mtc::runtime {

/// Elements that are converted at once, of at most 8 bytes.
static constexpr int64_t chunkElements = 4096;

RaggedColumn::RaggedColumn(const MtcInput &input, std::string flag, DataFile dataFile)
    : flagText(std::move(flag)), file(std::move(dataFile)) {
  const MtcTensor &tensor = input.tensor;
  if (!isConvertible(file.type(), tensor.type))
    userError(flagText, ": holds ", typeName(file.type()), ", but the input '", tensor.name,
              "' is ", typeName(tensor.type), "; convert it with array.astype(",
              numpyTypeName(tensor.type), ")");
  const std::vector<int64_t> dims = shapeOf(tensor), found = file.parts.front().dims;
  if (input.is_whole || dims.size() < 2 || found.size() + 1 != dims.size() ||
      !std::equal(dims.begin() + 2, dims.end(), found.begin() + 1))
    userError(flagText, ": has rows of different lengths, with values of shape ", shapeText(found),
              "; the input '", tensor.name, "' has shape ", shapeText(dims),
              ", where rows need a batch axis and an axis for their values");
  width = *elementCount({dims.begin() + 2, dims.end()}, 1);
  int64_t count = 0;
  for (size_t i = 0; i < file.parts.size(); ++i) {
    const ArrayOnDisk &offsets = file.offsets[i];
    if (offsets.type != MTC_I64 || offsets.dims.size() != 1 || offsets.dims[0] < 1)
      userError(offsets.file->path(), ": 'offsets' is ", typeName(offsets.type), " ",
                shapeText(offsets.dims), ", expected i64 [rows + 1]");
    count += offsets.dims[0] - 1;
    ends.push_back(count);
  }
  if (count == 0)
    userError(flagText, ": has no rows");
}

RaggedColumn::Range RaggedColumn::find(int64_t row) const {
  const auto part =
      static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), row) - ends.begin());
  const int64_t own = row - (part ? ends[part - 1] : 0);
  const ArrayOnDisk &offsets = file.offsets[part];
  std::array<int64_t, 2> limits{};
  offsets.file->read(offsets.offset + own * 8, reinterpret_cast<char *>(limits.data()), 16);
  if (limits[0] < 0 || limits[1] < limits[0] || limits[1] > file.parts[part].dims[0])
    userError(offsets.file->path(), ": the offsets of row ", own, " are ", limits[0], " and ",
              limits[1], ", expected numbers from 0 to ", file.parts[part].dims[0],
              " in ascending order");
  return {part, own, limits[0], limits[1] - limits[0]};
}

int64_t RaggedColumn::lengthOf(int64_t row) const { return find(row).length; }

void RaggedColumn::refuse(const Range &range, int64_t element, const std::string &value,
                          const std::string &takes) const {
  const std::string where =
      file.parts.size() == 1 ? flagText : flagText + ": " + file.parts[range.part].file->path();
  userError(where, ": row ", range.row, " holds ", value, " (element ", element, "); ", takes);
}

void RaggedColumn::readRow(const Range &range, const MtcInput &input, char *to) const {
  alignas(8) std::array<char, chunkElements * 8> source;
  const ArrayOnDisk &array = file.parts[range.part];
  const uint32_t type = input.tensor.type;
  const int64_t sourceBytes = typeBytes(array.type), total = range.length * width;
  for (int64_t done = 0; done < total; done += chunkElements) {
    const int64_t size = std::min(chunkElements, total - done);
    array.file->read(array.offset + (range.first * width + done) * sourceBytes, source.data(),
                     size * sourceBytes);
    const int64_t valid =
        convertValues(array.type, source.data(), size, type, to + done * typeBytes(type));
    if (valid < size)
      refuse(range, done + valid, valueText(array.type, source.data() + valid * sourceBytes, 0),
             text("the input '", input.tensor.name, "' is ", typeName(type), ", which has ",
                  valuesOfType(type)));
  }
  if (!hasRange(input))
    return;
  if (const std::optional<WrongValue> wrong = findWrongValue(input, to, total))
    refuse(range, wrong->index, wrong->value, text(input.user, " takes ", rangeText(input)));
}

/// Fills elements with zeros, or labels with the value that losses ignore.
static void pad(const MtcInput &input, char *to, int64_t count) {
  const uint32_t type = input.tensor.type;
  if (!input.is_label || !isInteger(type)) {
    std::memset(to, 0, static_cast<size_t>(count * typeBytes(type)));
    return;
  }
  withInteger(type, [&](auto example) {
    const auto ignored = static_cast<decltype(example)>(input.ignored);
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * static_cast<int64_t>(sizeof ignored), &ignored, sizeof ignored);
  });
}

void RaggedColumn::load(const int64_t *list, int64_t count, const MtcInput &input,
                        char *tensor) const {
  const int64_t elements = input.tensor.dims[1] * width, bytes = typeBytes(input.tensor.type);
  for (int64_t i = 0; i < count; ++i) {
    const Range range = find(list[i]);
    char *to = tensor + i * elements * bytes;
    readRow(range, input, to);
    pad(input, to + range.length * width * bytes, elements - range.length * width);
  }
}

} // namespace mtc::runtime
