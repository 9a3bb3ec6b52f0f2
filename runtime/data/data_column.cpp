// Validation and conversion of the data of one input.
#include "runtime/data/data_column.h"

#include "runtime/data/value_range.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/integers.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mtc::runtime {

/// Returns whether integer type `to` can represent every value of `from`.
static bool widens(uint32_t from, uint32_t to) {
  if (!isInteger(from) || !isInteger(to))
    return false;
  bool fromSigned = from <= MTC_I8, toSigned = to <= MTC_I8;
  if (fromSigned == toSigned)
    return typeBytes(from) <= typeBytes(to);
  return !fromSigned && typeBytes(from) < typeBytes(to);
}

static std::vector<int64_t> withoutFirst(const std::vector<int64_t> &dims) {
  return {dims.begin() + 1, dims.end()};
}

/// Returns `[first, 3, 4]`.
static std::string shapeWith(const char *first, const std::vector<int64_t> &rest) {
  std::string text = std::string("[") + first;
  for (int64_t dim : rest)
    text += ", " + std::to_string(dim);
  return text + "]";
}

std::string shapesOfFiles(const MtcInput &input) {
  std::vector<int64_t> dims = shapeOf(input.tensor);
  return input.is_whole ? shapeText(dims) + " or " + shapeWith("entries", dims)
                        : shapeWith("rows", withoutFirst(dims));
}

DataColumn::DataColumn(const MtcInput &input, std::string flag, DataFile dataFile, int64_t shift)
    : input(&input), flagText(std::move(flag)), file(std::move(dataFile)), shift(shift) {
  const MtcTensor &tensor = input.tensor;
  const ArrayOnDisk &array = file.array;
  Problems problems;
  if (array.type != tensor.type && !widens(array.type, tensor.type))
    problems.add(flagText, ": holds ", typeName(array.type), ", but the input '", tensor.name,
                 "' is ", typeName(tensor.type),
                 file.isStream
                     ? "; FILE.bin:TYPE sets another token type"
                     : text("; convert it with array.astype(", numpyTypeName(tensor.type), ")"));
  problems.collect([&] { chooseFeeding(); });
  problems.throwIfAny();
  if (array.type != tensor.type)
    staging.resize(static_cast<size_t>(sourceItemBytes));
}

void DataColumn::chooseFeeding() {
  const MtcTensor &tensor = input->tensor;
  const std::vector<int64_t> dims = shapeOf(tensor), &found = file.array.dims;
  if (!input->is_whole &&
      (file.isStream || (found.size() == dims.size() && withoutFirst(found) == withoutFirst(dims))))
    how = Feeding::Rows;
  else if (input->is_whole && !file.isStream && found == dims)
    how = Feeding::Whole;
  else if (file.isStream || (found.size() == dims.size() + 1 && withoutFirst(found) == dims))
    how = Feeding::Entries;
  else
    userError(flagText, ": has shape ", shapeText(found), "; the input '", tensor.name, "' takes ",
              shapesOfFiles(*input),
              input->is_whole && !dims.empty() ? text(", one a step; where its first axis counts "
                                                      "rows, compile with --batch-input ",
                                                      tensor.name)
                                               : "");

  itemElements = *elementCount(how == Feeding::Rows ? withoutFirst(dims) : dims, 1);
  sourceItemBytes = itemElements * typeBytes(file.array.type);
  itemBytes = itemElements * typeBytes(tensor.type);
  if (!file.isStream)
    itemCount = how == Feeding::Whole ? 1 : found[0];
  else if (itemElements > 0)
    itemCount = std::max<int64_t>(0, found[0] - shift) / itemElements;
  if (itemCount == 0 && file.isStream)
    userError(flagText, ": holds ", found[0], " tokens; one row takes ", itemElements + shift);
  if (itemCount == 0)
    userError(flagText, ": has no rows");
}

template <typename To, typename From>
static void convert(const char *from, char *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    auto wide = static_cast<To>(elementAt<From>(from, i));
    std::memcpy(to + i * static_cast<int64_t>(sizeof wide), &wide, sizeof wide);
  }
}

void DataColumn::readItems(int64_t item, int64_t count, char *to) {
  const ArrayOnDisk &array = file.array;
  int64_t offset = array.offset + item * sourceItemBytes + shift * typeBytes(array.type);
  if (staging.empty()) {
    array.file->read(offset, to, count * sourceItemBytes);
    if (array.type == MTC_BOOL) // Kernels require 0 or 1 in each byte.
      for (int64_t i = 0; i < count * itemBytes; ++i)
        to[i] = to[i] != 0;
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    array.file->read(offset + i * sourceItemBytes, staging.data(), sourceItemBytes);
    withInteger(array.type, [&](auto from) {
      withInteger(input->tensor.type, [&](auto wide) {
        convert<decltype(wide), decltype(from)>(staging.data(), to + i * itemBytes, itemElements);
      });
    });
  }
}

void DataColumn::load(const int64_t *list, int64_t count, char *tensor) {
  for (int64_t i = 0; i < count;) {
    int64_t next = i + 1;
    while (next < count && list[next] == list[next - 1] + 1)
      ++next;
    readItems(list[i], next - i, tensor + i * itemBytes);
    i = next;
  }
  for (int64_t i = 0; i < count; ++i)
    checkRange(list[i], tensor + i * itemBytes);
}

void DataColumn::checkRange(int64_t item, const char *values) const {
  if (!hasRange(*input))
    return;
  std::optional<WrongValue> wrong = findWrongValue(*input, values, itemElements);
  if (!wrong)
    return;
  const std::string takes = text("; ", input->user, " takes ", rangeText(*input));
  if (file.isStream)
    userError(flagText, ": token ", item * itemElements + shift + wrong->index, " is ",
              wrong->value, takes,
              file.isTypeAssumed ? text(". The file has no header, so a token was taken for a u16; "
                                        "FILE.bin:TYPE says what it is")
                                 : "");
  const char *kind = how == Feeding::Entries ? "entry " : "row ";
  userError(flagText, ": ", how == Feeding::Whole ? "" : text(kind, item, " "), "holds ",
            wrong->value, " (element ", wrong->index, ")", takes);
}

} // namespace mtc::runtime
