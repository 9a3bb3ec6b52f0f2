// The exported model alternates bytes of the program with bytes of variables.
#include "runtime/state/export_model.h"

#include "runtime/abi/tensor_image.h"
#include "runtime/io/durable_file.h"
#include "runtime/state/exported_values.h"
#include "runtime/state/module_tensors.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/floats.h"

#include <vector>

namespace mtc::runtime {

/// Appends f32 elements, rounded to a 16-bit type.
static void appendNarrow(DurableFile &file, uint32_t type, const char *from, int64_t bytes) {
  const auto count = bytes / static_cast<int64_t>(sizeof(float));
  std::vector<char> narrow(static_cast<size_t>(count * typeBytes(type)));
  narrowFloats(type, reinterpret_cast<const float *>(from), count, narrow.data());
  file.append(narrow.data(), static_cast<int64_t>(narrow.size()));
}

/// Appends the elements of an image of a variable's value.
static void appendImage(DurableFile &file, const MtcTensorImage &image, const MtcTensor &value,
                        uint32_t type, const std::vector<char> &elements) {
  std::vector<char> made = elements;
  for (uint32_t i = 0; i < image.part_count; ++i)
    abi::copyToImage(image.parts[i], elements.data(), made.data(), typeBytes(value.type));
  const auto bytes = static_cast<int64_t>(made.size());
  if (type == value.type)
    file.append(made.data(), bytes);
  else
    appendNarrow(file, type, made.data(), bytes);
}

void exportModel(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                 int threads, const WeightsChoice &weights, MtcExportForm form,
                 const std::string &path) {
  if (!program.segment_count)
    userError(form == MTC_INFERENCE_FORM ? "--export " : "--export-training ", path,
              ": this program was compiled without the model");
  const ExportedValues values(program, device, finite, threads, weights, path);
  DurableFile file(path);
  for (uint32_t i = 0; i < program.segment_count; ++i) {
    const MtcExportSegment &segment = program.segments[i];
    if (segment.form != MTC_EVERY_FORM && segment.form != static_cast<uint32_t>(form))
      continue;
    file.append(segment.bytes, segment.byte_count);
    if (segment.variable < 0)
      continue;
    const auto variable = static_cast<uint32_t>(segment.variable);
    const MtcTensor value = valueOf(program, variable);
    if (!isWhole(segment.image)) {
      appendImage(file, *segment.image, value, segment.type, values.value(variable));
      continue;
    }
    values.read(variable, [&](const char *from, int64_t, int64_t bytes) {
      if (segment.type == value.type)
        file.append(from, bytes);
      else
        appendNarrow(file, segment.type, from, bytes);
    });
  }
  file.commit();
}

} // namespace mtc::runtime
