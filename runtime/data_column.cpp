// Opening, checking and converting of one input's data.
#include "runtime/data_column.h"

#include "runtime/element_type.h"
#include "runtime/failure.h"
#include "runtime/npy.h"
#include "runtime/safetensors.h"
#include "runtime/token_stream.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace mtc::runtime {

static bool endsWith(const std::string &text, const std::string &ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

static ArrayOnDisk openSafetensor(const std::string &input, const std::string &path,
                                  const std::string &tensor) {
  SafetensorsFile file(path);
  if (!tensor.empty()) {
    if (const ArrayOnDisk *found = file.find(tensor))
      return *found;
  } else if (file.tensors().size() == 1) {
    return file.tensors().begin()->second;
  } else if (const ArrayOnDisk *found = file.find(input)) {
    return *found;
  }
  std::string names;
  for (const auto &[name, array] : file.tensors())
    names += (names.empty() ? "" : ", ") + name;
  if (tensor.empty())
    userError(path, ": holds several tensors (", names, "); choose one with ", path, ":TENSOR");
  userError(path, ": has no tensor '", tensor, "'; it holds ", names.empty() ? "none" : names);
}

DataFile openDataFile(const std::string &input, const std::string &file) {
  if (endsWith(file, ".npy"))
    return {openNpy(file), false};
  if (endsWith(file, ".bin"))
    return {openTokens(file), true};
  const std::string ending = ".safetensors";
  if (endsWith(file, ending))
    return {openSafetensor(input, file, ""), false};
  size_t colon = file.rfind(ending + ":");
  if (colon != std::string::npos)
    return {openSafetensor(input, file.substr(0, colon + ending.size()),
                           file.substr(colon + ending.size() + 1)),
            false};
  userError(file,
            ": is no known data file; .npy, .safetensors (FILE:TENSOR) and token .bin files are");
}

/// Whether every value of integer type `from` is one of `to`.
static bool widens(uint32_t from, uint32_t to) {
  if (!isInteger(from) || !isInteger(to))
    return false;
  bool fromSigned = from <= MTC_I8, toSigned = to <= MTC_I8;
  if (fromSigned == toSigned)
    return typeBytes(from) <= typeBytes(to);
  return !fromSigned && typeBytes(from) < typeBytes(to);
}

DataColumn::DataColumn(const MtcInput &input, std::string flag, DataFile dataFile, int64_t shift)
    : input(&input), flagText(std::move(flag)), file(std::move(dataFile)), shift(shift) {
  const MtcTensor &tensor = input.tensor;
  const ArrayOnDisk &array = file.array;
  std::vector<int64_t> rowDims = shapeOf(tensor);
  assert(!rowDims.empty() && "an input has a batch dimension");
  rowDims.erase(rowDims.begin());
  rowElements = *elementCount(rowDims, 1);
  sourceRowBytes = rowElements * typeBytes(array.type);
  rowBytes = rowElements * typeBytes(tensor.type);

  Problems problems;
  if (array.type != tensor.type && !widens(array.type, tensor.type))
    problems.add(flagText, ": holds ", typeName(array.type), ", but the input '", tensor.name,
                 "' is ", typeName(tensor.type), "; convert it with array.astype(",
                 numpyTypeName(tensor.type), ")");
  if (file.isStream) {
    if (rowElements > 0)
      rowCount = std::max<int64_t>(0, array.dims[0] - shift) / rowElements;
    if (rowCount == 0)
      problems.add(flagText, ": holds ", array.dims[0], " tokens; one row takes ",
                   rowElements + shift);
  } else if (array.dims.empty() ||
             std::vector<int64_t>(array.dims.begin() + 1, array.dims.end()) != rowDims) {
    std::string expected = "[rows";
    for (int64_t dim : rowDims)
      expected += ", " + std::to_string(dim);
    problems.add(flagText, ": has shape ", shapeText(array.dims), "; the input '", tensor.name,
                 "' takes ", expected, "]");
  } else {
    rowCount = array.dims[0];
    if (rowCount == 0)
      problems.add(flagText, ": has no rows");
  }
  problems.throwIfAny();
  if (array.type != tensor.type)
    staging.resize(static_cast<size_t>(sourceRowBytes));
}

template <typename To, typename From>
static void convert(const char *from, char *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * static_cast<int64_t>(sizeof value), sizeof value);
    auto wide = static_cast<To>(value);
    std::memcpy(to + i * static_cast<int64_t>(sizeof wide), &wide, sizeof wide);
  }
}

/// Calls `action` with a value of the integer type.
template <typename Action> static void withInteger(uint32_t type, const Action &action) {
  switch (type) {
  case MTC_I64:
    return action(int64_t{});
  case MTC_I32:
    return action(int32_t{});
  case MTC_I16:
    return action(int16_t{});
  case MTC_I8:
    return action(int8_t{});
  case MTC_U64:
    return action(uint64_t{});
  case MTC_U32:
    return action(uint32_t{});
  case MTC_U16:
    return action(uint16_t{});
  case MTC_U8:
    return action(uint8_t{});
  default:
    assert(false && "not an integer type");
  }
}

void DataColumn::readRows(int64_t row, int64_t count, char *to) {
  const ArrayOnDisk &array = file.array;
  int64_t offset = array.offset + row * sourceRowBytes + shift * typeBytes(array.type);
  if (staging.empty()) {
    array.file->read(offset, to, count * sourceRowBytes);
    if (array.type == MTC_BOOL) // Kernels read a byte of 0 or 1.
      for (int64_t i = 0; i < count * rowBytes; ++i)
        to[i] = to[i] != 0;
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    array.file->read(offset + i * sourceRowBytes, staging.data(), sourceRowBytes);
    withInteger(array.type, [&](auto from) {
      withInteger(input->tensor.type, [&](auto wide) {
        convert<decltype(wide), decltype(from)>(staging.data(), to + i * rowBytes, rowElements);
      });
    });
  }
}

void DataColumn::load(const int64_t *list, int64_t count, char *tensor) {
  for (int64_t i = 0; i < count;) {
    int64_t next = i + 1;
    while (next < count && list[next] == list[next - 1] + 1)
      ++next;
    readRows(list[i], next - i, tensor + i * rowBytes);
    i = next;
  }
  for (int64_t i = 0; i < count; ++i)
    checkRange(list[i], tensor + i * rowBytes);
}

void DataColumn::checkRange(int64_t row, const char *values) const {
  if (input->minimum < input->limit && isInteger(input->tensor.type))
    checkValues(*input, values, rowElements, text(flagText, ": row ", row));
}

void checkValues(const MtcInput &input, const char *values, int64_t count,
                 const std::string &where) {
  withInteger(input.tensor.type, [&](auto example) {
    for (int64_t i = 0; i < count; ++i) {
      decltype(example) value;
      std::memcpy(&value, values + i * static_cast<int64_t>(sizeof value), sizeof value);
      auto wide = static_cast<int64_t>(value);
      bool fits = (wide >= input.minimum && wide < input.limit) ||
                  (input.is_label && wide == input.ignored);
      if (fits)
        continue;
      userError(where, " holds ", +value, " (element ", i, "); ", input.reader, " takes ",
                input.minimum, " to ", input.limit - 1,
                input.is_label ? text(", or ", input.ignored, " for what is to be ignored") : "");
    }
  });
}

} // namespace mtc::runtime
