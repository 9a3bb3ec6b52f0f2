// The exported model is bytes of the program and bytes of variables in turn.
#include "runtime/state/export_model.h"

#include "runtime/io/durable_file.h"
#include "runtime/state/adapters.h"
#include "runtime/state/stored_variable.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/half_floats.h"

#include <vector>

namespace mtc::runtime {

/// Appends elements of f32 in 16 bits.
static void appendNarrow(DurableFile &file, uint32_t type, const char *from, int64_t bytes) {
  const auto count = bytes / static_cast<int64_t>(sizeof(float));
  std::vector<char> narrow(static_cast<size_t>(count * typeBytes(type)));
  narrowFloats(type, reinterpret_cast<const float *>(from), count, narrow.data());
  file.append(narrow.data(), static_cast<int64_t>(narrow.size()));
}

void exportModel(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                 int threads, const WeightsChoice &weights, MtcExportForm form,
                 const std::string &path) {
  if (!program.segment_count)
    userError(form == MTC_INFERENCE_FORM ? "--export " : "--export-training ", path,
              ": this program was compiled without the model");
  const AdapterMerger adapters(program, device, finite, path);
  DurableFile file(path);
  std::vector<char> merged;
  for (uint32_t i = 0; i < program.segment_count; ++i) {
    const MtcExportSegment &segment = program.segments[i];
    if (segment.form != MTC_EVERY_FORM && segment.form != static_cast<uint32_t>(form))
      continue;
    file.append(segment.bytes, segment.byte_count);
    if (segment.variable < 0)
      continue;
    const auto variable = static_cast<uint32_t>(segment.variable);
    if (const MtcTensor *source = program.variables[variable].source) {
      std::vector<char> value =
          initialValue(program, program.variables[variable], threads, weights);
      const auto bytes = static_cast<int64_t>(value.size());
      adapters.merge(variable, 0, value.data(), bytes);
      if (segment.type == source->type)
        file.append(value.data(), bytes);
      else
        appendNarrow(file, segment.type, value.data(), bytes);
      continue;
    }
    const bool isNarrowed = segment.type != StoredVariable(program, variable).type();
    auto append = [&](const char *from, int64_t at, int64_t bytes) {
      merged.assign(from, from + bytes);
      adapters.merge(variable, at, merged.data(), bytes);
      if (isNarrowed)
        appendNarrow(file, segment.type, merged.data(), bytes);
      else
        file.append(merged.data(), bytes);
    };
    if (!finite.read(program, device, variable, append))
      stopDiverged(text("after the last step, '", program.variables[variable].tensor.name,
                        "' holds values that are not finite"),
                   path + " was not written");
  }
  file.commit();
}

} // namespace mtc::runtime
