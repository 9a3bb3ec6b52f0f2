// Functions that all devices share.
#include "runtime/devices/device.h"

namespace mtc::runtime {

std::vector<char *> inputBuffers(const MtcProgram &program, char *arena) {
  std::vector<char *> buffers;
  buffers.reserve(program.input_count);
  for (uint32_t i = 0; i < program.input_count; ++i)
    buffers.push_back(arena + program.inputs[i].tensor.offset);
  return buffers;
}

} // namespace mtc::runtime
