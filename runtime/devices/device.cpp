// Functions that all devices share.
#include "runtime/devices/device.h"

#include "runtime/support/failure.h"

#include <cassert>

namespace mtc::runtime {

std::vector<char *> inputBuffers(const MtcProgram &program, char *arena) {
  std::vector<char *> buffers;
  buffers.reserve(program.input_count);
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const int64_t offset = program.inputs[i].tensor.offset;
    buffers.push_back(offset < 0 ? nullptr : arena + offset);
  }
  return buffers;
}

void Device::startMessage(uint32_t) { assert(false && "the device has refused the program"); }

void Device::waitForMessage(uint32_t) { assert(false && "the device has refused the program"); }

void refuseStages(const MtcProgram &program) {
  if (program.stages > 1 || program.micro_steps.count)
    userError("this program has ", program.stages,
              " pipeline stages, and programs for GPUs have no pipeline stages yet; compile the "
              "model without --pipeline, or with --target cpu");
}

} // namespace mtc::runtime
