#include "runtime/data/images/folder_column.h"

#include "runtime/data/value_conversion.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <utility>

namespace mtc::runtime {

static std::vector<int64_t> sampleDims(const MtcInput &input) {
  const std::vector<int64_t> dims = shapeOf(input.tensor);
  return {dims.begin() + 1, dims.end()};
}

FolderColumn::FolderColumn(const MtcInput &input, std::shared_ptr<const ImageFolder> images,
                           const Normalization *normalization, const Augmentation *augmentation,
                           int workers)
    : input(&input), folder(std::move(images)), elements(*elementCount(sampleDims(input), 1)),
      augmenter(augmentation ? *augmentation : Augmentation(), sampleDims(input), /*white=*/255,
                input.tensor.name),
      buffers(static_cast<size_t>(workers)) {
  if (normalization)
    normalizer.emplace(*normalization, sampleDims(input), input.tensor.name);
}

void FolderColumn::read(int64_t image, RandomOrigin origin, int worker, char *to) {
  ImageBuffers &own = buffers[static_cast<size_t>(worker)];
  const std::string file = folder->fileOf(image);
  PixelImage &pixels = readImageFile(file, own.file);
  const bool isF32 = input->tensor.type == MTC_F32;
  float *sample = isF32 ? reinterpret_cast<float *>(to) : own.sample.get(elements);
  augmenter.apply(pixels, origin, own, sample);
  if (normalizer)
    normalizer->apply(sample, elements, 0);
  if (isF32)
    return;
  const char *values = reinterpret_cast<const char *>(sample);
  if (const int64_t valid = convertValues(MTC_F32, values, elements, input->tensor.type, to);
      valid < elements)
    userError(file, ": has the value ", valueText(MTC_F32, values, valid), " (element ", valid,
              "); the input '", input->tensor.name, "' is ", typeName(input->tensor.type),
              ", which has ", valuesOfType(input->tensor.type));
}

} // namespace mtc::runtime
