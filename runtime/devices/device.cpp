// What devices share.
#include "runtime/devices/device.h"

namespace mtc::runtime {

std::vector<char *> inputPlaces(const MtcProgram &program, char *arena) {
  std::vector<char *> places;
  for (uint32_t i = 0; i < program.input_count; ++i)
    places.push_back(arena + program.inputs[i].tensor.offset);
  return places;
}

} // namespace mtc::runtime
