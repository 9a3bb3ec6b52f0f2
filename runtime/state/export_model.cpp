// The exported model is bytes of the program and bytes of variables in turn.
#include "runtime/state/export_model.h"

#include "runtime/io/durable_file.h"
#include "runtime/support/failure.h"

namespace mtc::runtime {

void exportModel(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                 const std::string &path) {
  if (!program.segment_count)
    userError("--export ", path, ": this program was compiled without the model");
  DurableFile file(path);
  for (uint32_t i = 0; i < program.segment_count; ++i) {
    const MtcExportSegment &segment = program.segments[i];
    file.append(segment.bytes, segment.byte_count);
    if (segment.variable < 0)
      continue;
    const auto variable = static_cast<uint32_t>(segment.variable);
    auto append = [&](const char *from, int64_t, int64_t bytes) { file.append(from, bytes); };
    if (!finite.read(program, device, variable, append))
      stopDiverged(text("after the last step, '", program.variables[variable].tensor.name,
                        "' holds values that are not finite"),
                   path + " was not written");
  }
  file.commit();
}

} // namespace mtc::runtime
