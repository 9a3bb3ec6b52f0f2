// Operations run in order, so the first one that overflows is the cause.
#include "runtime/state/overflow_finder.h"

#include "runtime/state/divergence.h"
#include "runtime/support/failure.h"

namespace mtc::runtime {

static bool isFinite(Device &device, ArenaAddress place, uint32_t type, int64_t bytes) {
  bool finite = true;
  device.read(place, bytes, [&](const char *from, int64_t, int64_t count) {
    finite = finite && isFinite(type, from, count);
  });
  return finite;
}

void OverflowFinder::operation(const OperationInfo &operation, Clock::time_point,
                               Clock::time_point) {
  for (uint32_t i = 0; !first && i < operation.source->write_count; ++i)
    if (const MtcWrite &write = operation.source->writes[i];
        mtc_has_small_range(write.type) && !isFinite(device, write.offset, write.type, write.bytes))
      first = operation.source;
}

bool startsFinite(const MtcProgram &program, Device &device) {
  auto isFiniteTensor = [&](const MtcTensor &tensor) {
    return isFinite(device, addressOf(tensor), tensor.type, tensor.bytes);
  };
  for (uint32_t i = 0; i < program.input_count; ++i)
    if (!isFiniteTensor(program.inputs[i].tensor))
      return false;
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (const MtcVariable &variable = program.variables[i];
        (variable.role == MTC_PARAMETER || variable.role == MTC_FROZEN ||
         variable.role == MTC_STATE || variable.role == MTC_CONSTANT) &&
        !variable.source && !isFiniteTensor(variable.tensor))
      return false;
  return true;
}

std::string describeOverflow(const MtcOperation &operation) {
  const std::string nodes = operation.nodes;
  if (nodes.find("backward") != std::string::npos)
    return "";
  const std::string node = nodes.substr(0, nodes.find(" + "));
  // Names are module paths; later nodes of the same module overflow too.
  const size_t slash = node.find_last_of('/');
  const std::string pattern =
      slash == std::string::npos || slash == 0 ? node + "*" : node.substr(0, slash) + "*";
  return text("The forward pass leaves the range of f16, which ends at 65504, at node '", node,
              "': compile with --precision bf16, or compute such nodes in f32 with --keep-f32 '",
              pattern, "'");
}

} // namespace mtc::runtime
