// Offsets are read row by row, so that the memory does not grow with the file.
#include "runtime/data/ragged_column.h"

#include "runtime/data/converted_read.h"
#include "runtime/data/label_fill.h"
#include "runtime/data/value_conversion.h"
#include "runtime/data/value_range.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <utility>

namespace mtc::runtime {

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

RaggedColumn::Location RaggedColumn::locate(int64_t row) const {
  const auto part =
      static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), row) - ends.begin());
  return {part, row - (part ? ends[part - 1] : 0)};
}

/// Throws a user error if the offsets [begin, end) are not those of a row.
void RaggedColumn::checkOffsets(Location at, int64_t begin, int64_t end) const {
  if (begin < 0 || end < begin || end > file.parts[at.part].dims[0])
    userError(file.offsets[at.part].file->path(), ": the offsets of row ", at.row, " are ", begin,
              " and ", end, ", expected numbers from 0 to ", file.parts[at.part].dims[0],
              " in ascending order");
}

RaggedColumn::Range RaggedColumn::find(int64_t row) const {
  const Location at = locate(row);
  const ArrayOnDisk &offsets = file.offsets[at.part];
  std::array<int64_t, 2> limits{};
  offsets.file->read(offsets.offset + at.row * 8, reinterpret_cast<char *>(limits.data()), 16);
  checkOffsets(at, limits[0], limits[1]);
  return {at, limits[0], limits[1] - limits[0]};
}

int64_t RaggedColumn::lengthOf(int64_t row) const { return find(row).length; }

void RaggedColumn::readLengths(int64_t first, std::span<int64_t> lengths) const {
  std::vector<int64_t> limits;
  const auto count = static_cast<int64_t>(lengths.size());
  for (int64_t done = 0; done < count;) {
    const Location at = locate(first + done);
    const int64_t size = std::min(count - done, ends[at.part] - (first + done));
    const ArrayOnDisk &offsets = file.offsets[at.part];
    limits.resize(static_cast<size_t>(size + 1));
    offsets.file->read(offsets.offset + at.row * 8, reinterpret_cast<char *>(limits.data()),
                       (size + 1) * 8);
    for (int64_t i = 0; i < size; ++i) {
      const int64_t begin = limits[static_cast<size_t>(i)],
                    end = limits[static_cast<size_t>(i) + 1];
      checkOffsets({at.part, at.row + i}, begin, end);
      lengths[static_cast<size_t>(done + i)] = end - begin;
    }
    done += size;
  }
}

int64_t RaggedColumn::values() const {
  int64_t sum = 0;
  for (const ArrayOnDisk &part : file.parts)
    sum += part.dims[0];
  return sum;
}

void RaggedColumn::refuse(Location at, int64_t element, const std::string &value,
                          const std::string &takes) const {
  const std::string where =
      file.parts.size() == 1 ? flagText : flagText + ": " + file.parts[at.part].file->path();
  userError(where, ": row ", at.row, " holds ", value, " (element ", element, "); ", takes);
}

void RaggedColumn::readRow(const Range &range, const MtcInput &input, char *to) const {
  const uint32_t type = input.tensor.type;
  const int64_t count = range.length * width;
  if (const std::optional<Unrepresentable> wrong =
          readConverted(file.parts[range.at.part], range.first * width, count, type, to))
    refuse(range.at, wrong->index, wrong->value,
           text("the input '", input.tensor.name, "' is ", typeName(type), ", which has ",
                valuesOfType(type)));
  if (!hasRange(input))
    return;
  if (const std::optional<WrongValue> wrong = findWrongValue(input, to, count))
    refuse(range.at, wrong->index, wrong->value, text(input.user, " takes ", rangeText(input)));
}

void RaggedColumn::load(const int64_t *list, int64_t count, const MtcInput &input,
                        char *tensor) const {
  const int64_t elements = input.tensor.dims[1] * width, bytes = typeBytes(input.tensor.type);
  for (int64_t i = 0; i < count; ++i) {
    const Range range = find(list[i]);
    assert(range.length <= input.tensor.dims[1] && "the shape of a batch holds its rows");
    const int64_t own = range.length * width;
    char *to = tensor + i * elements * bytes;
    readRow(range, input, to);
    if (input.is_label)
      ignoreLabels(input, own, elements - own, to);
    else
      std::memset(to + own * bytes, 0, static_cast<size_t>((elements - own) * bytes));
  }
}

std::vector<char> RaggedColumn::valuesOf(int64_t row, const MtcInput &input) const {
  const Range range = find(row);
  std::vector<char> values(
      static_cast<size_t>(range.length * width * typeBytes(input.tensor.type)));
  readRow(range, input, values.data());
  return values;
}

} // namespace mtc::runtime
