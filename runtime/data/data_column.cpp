// Validation and conversion of the data of one input.
#include "runtime/data/data_column.h"

#include "runtime/data/converted_read.h"
#include "runtime/data/value_conversion.h"
#include "runtime/data/value_range.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mtc::runtime {

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

DataColumn::DataColumn(const MtcInput &input, std::string flag, DataFile dataFile,
                       StreamWindow window, const ColumnTransforms &transforms)
    : input(&input), flagText(std::move(flag)), file(std::move(dataFile)),
      workers(transforms.workers), window(window) {
  const MtcTensor &tensor = input.tensor;
  const std::vector<int64_t> dims = shapeOf(tensor);
  Problems problems;
  if (!isConvertible(file.type(), tensor.type))
    problems.add(flagText, ": holds ", typeName(file.type()), ", but the input '", tensor.name,
                 "' is ", typeName(tensor.type), "; convert it with array.astype(",
                 numpyTypeName(tensor.type), ")");
  const int workerCount = workers ? workers->count() : 1;
  problems.collect([&] {
    if (file.images)
      images = std::make_unique<FolderColumn>(input, file.images, transforms.normalization,
                                              transforms.augmentation, workerCount);
    else if (transforms.augmentation)
      prepareAugmentation(*transforms.augmentation);
    else
      chooseFeeding();
  });
  problems.throwIfAny();
  countItems();
  if (transforms.normalization && !images)
    normalizer.emplace(*transforms.normalization, how == Feeding::Rows ? withoutFirst(dims) : dims,
                       tensor.name);
  if (augmenter)
    buffers.resize(static_cast<size_t>(workerCount));
}

void DataColumn::prepareAugmentation(const Augmentation &augmentation) {
  const std::vector<int64_t> dims = shapeOf(input->tensor), found = file.dims();
  if (input->is_whole || file.isStream || found.size() != dims.size() || dims.empty())
    userError(flagText, ": has shape ", shapeText(found), "; --augment ", input->tensor.name,
              " expects samples of images for an input with a batch axis");
  const float white = isInteger(file.type()) ? 255 : 1;
  augmenter.emplace(augmentation, withoutFirst(dims), white, input->tensor.name);
  stored = augmenter->layoutOfStored(withoutFirst(found));
}

void DataColumn::chooseFeeding() {
  const std::vector<int64_t> dims = shapeOf(input->tensor), found = file.dims();
  if (!input->is_whole &&
      (file.isStream || (found.size() == dims.size() && withoutFirst(found) == withoutFirst(dims))))
    how = Feeding::Rows;
  else if (input->is_whole && !file.isStream && found == dims && file.parts.size() == 1)
    how = Feeding::Whole;
  else if (file.isStream || (found.size() == dims.size() + 1 && withoutFirst(found) == dims))
    how = Feeding::Entries;
  else
    userError(flagText, ": has shape ", shapeText(found), "; the input '", input->tensor.name,
              "' takes ", shapesOfFiles(*input), adviceFor(found));
}

/// Returns what makes a file of this shape fit, for messages.
std::string DataColumn::adviceFor(const std::vector<int64_t> &found) const {
  const std::vector<int64_t> dims = shapeOf(input->tensor);
  if (input->is_whole && !dims.empty())
    return text(", one a step; where its first axis counts rows, compile with --batch-input ",
                input->tensor.name);
  const bool isLargerImage = !input->is_whole && dims.size() == 4 && found.size() == 4 &&
                             found[2] >= dims[2] && (found[1] == dims[1] || found[3] == dims[3]);
  return isLargerImage ? text("; --augment ", input->tensor.name, "=crop crops images") : "";
}

void DataColumn::countItems() {
  const std::vector<int64_t> dims = shapeOf(input->tensor);
  itemElements = *elementCount(how == Feeding::Rows ? withoutFirst(dims) : dims, 1);
  itemBytes = itemElements * typeBytes(input->tensor.type);
  if (file.images) {
    ends = {file.images->count()};
    return;
  }
  int64_t count = 0;
  ends.reserve(file.parts.size());
  for (const ArrayOnDisk &part : file.parts) {
    if (!file.isStream)
      count += how == Feeding::Whole ? 1 : part.dims[0];
    else if (itemElements > 0)
      count += std::max<int64_t>(0, part.dims[0] - window.spared) / itemElements;
    ends.push_back(count);
  }
  if (count == 0 && file.isStream)
    userError(flagText, ": holds ", file.dims()[0], " tokens; one row takes ",
              itemElements + window.spared,
              file.parts.size() > 1 ? ", and does not cross the end of a file" : "");
  if (count == 0)
    userError(flagText, ": has no rows");
}

DataColumn::Location DataColumn::locate(int64_t item) const {
  const auto part =
      static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), item) - ends.begin());
  return {part, item - (part ? ends[part - 1] : 0)};
}

/// Returns the flag, and the file if there are several.
std::string DataColumn::describe(Location at) const {
  return file.parts.size() == 1 ? flagText : flagText + ": " + file.parts[at.part].file->path();
}

void DataColumn::readItems(Location at, int64_t count, char *to) const {
  const ArrayOnDisk &array = file.parts[at.part];
  if (array.type != input->tensor.type || array.type == MTC_BOOL || normalizer)
    return readConvertedItems(at, count, to);
  const int64_t first = at.item * itemElements + window.shift;
  array.file->read(array.offset + first * typeBytes(array.type), to, count * itemBytes);
}

void DataColumn::readConvertedItems(Location at, int64_t count, char *to) const {
  const ArrayOnDisk &array = file.parts[at.part];
  const int64_t total = count * itemElements, first = at.item * itemElements + window.shift;
  if (!normalizer) {
    if (const auto wrong = readConverted(array, first, total, input->tensor.type, to))
      refuseValue({at.part, at.item + wrong->index / itemElements}, wrong->index % itemElements,
                  wrong->value);
    return;
  }
  constexpr int64_t maxElements = 4096;
  std::array<float, maxElements> floats;
  char *bytes = reinterpret_cast<char *>(floats.data());
  const int64_t elementBytes = typeBytes(input->tensor.type);
  for (int64_t done = 0; done < total; done += maxElements) {
    const int64_t size = std::min(maxElements, total - done);
    auto refuse = [&](int64_t index, const std::string &value) {
      refuseValue({at.part, at.item + (done + index) / itemElements}, (done + index) % itemElements,
                  value);
    };
    if (const auto wrong = readConverted(array, first + done, size, MTC_F32, bytes))
      refuse(wrong->index, wrong->value);
    normalizer->apply(floats.data(), size, done % std::max<int64_t>(1, itemElements));
    if (const int64_t valid =
            convertValues(MTC_F32, bytes, size, input->tensor.type, to + done * elementBytes);
        valid < size)
      refuse(valid, valueText(MTC_F32, bytes, valid));
  }
}

void DataColumn::refuseValue(Location at, int64_t element, const std::string &value) const {
  userError(describe(at), ": row ", at.item, " holds ", value, " (element ", element,
            "); the input '", input->tensor.name, "' is ", typeName(input->tensor.type),
            ", which has ", valuesOfType(input->tensor.type));
}

/// Reads a stored image, and augments, normalizes and converts it.
void DataColumn::readImage(Location at, RandomOrigin origin, int worker, char *to) const {
  const uint32_t type = input->tensor.type;
  const int64_t total = stored.elements();
  ImageBuffers &own = buffers[static_cast<size_t>(worker)];
  float *values = own.stored.get(total), *image = own.sample.get(itemElements);
  if (const auto wrong = readConverted(file.parts[at.part], at.item * total, total, MTC_F32,
                                       reinterpret_cast<char *>(values)))
    refuseValue(at, wrong->index, wrong->value);
  augmenter->apply(values, stored, origin, own, image);
  if (normalizer)
    normalizer->apply(image, itemElements, 0);
  const char *bytes = reinterpret_cast<const char *>(image);
  if (const int64_t valid = convertValues(MTC_F32, bytes, itemElements, type, to);
      valid < itemElements)
    refuseValue(at, valid, valueText(MTC_F32, bytes, valid));
}

void DataColumn::load(const int64_t *list, int64_t count, char *tensor, RandomOrigin origin) const {
  constexpr int64_t minSharedBytes = 1 << 16;
  auto originOf = [&origin](int64_t i) {
    return RandomOrigin{origin.seed, origin.position < 0 ? -1 : origin.position + i};
  };
  auto readOne = [&](int64_t i, int worker) {
    if (images)
      images->read(list[i], originOf(i), worker, tensor + i * itemBytes);
    else if (augmenter)
      readImage(locate(list[i]), originOf(i), worker, tensor + i * itemBytes);
    else
      readItems(locate(list[i]), 1, tensor + i * itemBytes);
  };
  const bool isImage = augmenter || images;
  if (workers && workers->count() > 1 && count > 1 && (isImage || itemBytes >= minSharedBytes)) {
    workers->run(count, readOne);
  } else if (isImage) {
    for (int64_t i = 0; i < count; ++i)
      readOne(i, 0);
  } else {
    readRuns(list, count, tensor);
  }
  for (int64_t i = 0; i < count; ++i)
    checkRange(list[i], tensor + i * itemBytes);
}

/// Reads items one after the other, consecutive ones at once.
void DataColumn::readRuns(const int64_t *list, int64_t count, char *tensor) const {
  for (int64_t i = 0; i < count;) {
    const Location at = locate(list[i]);
    int64_t next = i + 1;
    while (next < count && list[next] == list[next - 1] + 1 && list[next] < ends[at.part])
      ++next;
    readItems(at, next - i, tensor + i * itemBytes);
    i = next;
  }
}

void DataColumn::checkRange(int64_t item, const char *values) const {
  if (!hasRange(*input))
    return;
  std::optional<WrongValue> wrong = findWrongValue(*input, values, itemElements);
  if (!wrong)
    return;
  const Location at = locate(item);
  const std::string takes = text("; ", input->user, " takes ", rangeText(*input));
  if (file.isStream)
    userError(describe(at), ": token ", at.item * itemElements + window.shift + wrong->index,
              " is ", wrong->value, takes,
              file.isTypeAssumed ? text(". The file has no header, so a token was taken for a u16; "
                                        "FILE.bin:TYPE says what it is")
                                 : "");
  const char *kind = how == Feeding::Entries ? "entry " : "row ";
  userError(describe(at), ": ", how == Feeding::Whole ? "" : text(kind, at.item, " "), "holds ",
            wrong->value, " (element ", wrong->index, ")", takes);
}

} // namespace mtc::runtime
