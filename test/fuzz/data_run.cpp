#include "test/fuzz/data_run.h"

#include "runtime/run_program.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "test/fuzz/written_input.h"

#include <cstdlib>

extern const MtcProgram mtc_program;

namespace mtc::fuzz {

/// The number of valid ids if the elements of x are integers.
static constexpr int64_t vocabulary = 1000;

void runSample(MtcType type, const std::vector<std::string> &arguments) {
  MtcInput inputs[] = {mtc_program.inputs[0], mtc_program.inputs[1]};
  MtcTensor &x = inputs[0].tensor;
  x.type = type;
  x.bytes = x.bytes / 4 * runtime::typeBytes(type);
  if (type != MTC_F32) {
    inputs[0].limit = vocabulary;
    inputs[0].user = "embedding";
  }
  MtcProgram program = mtc_program;
  program.inputs = inputs;
  program.micro_step = program.evaluate = program.update = {0, nullptr};
  program.function_count = 0;
  const int status = runtime::runProgram(program, "/nowhere/sample", arguments);
  if (status != runtime::exitDone && status != runtime::exitUserInput)
    std::abort();
}

void evaluateOn(MtcType type, const char *ending, const uint8_t *data, size_t size) {
  // Four samples of zeros, as .npy.
  static const std::string target = [] {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 1), }";
    header.resize(117, ' ');
    const std::string bytes = std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\n" +
                              std::string(4 * sizeof(float), '\0');
    return Folder::get().write("target.npy", bytes.data(), bytes.size());
  }();
  const std::string x = Folder::get().write(std::string("x") + ending, data, size);
  runSample(type, {"--data", "x=" + x, "--data", "target=" + target, "--evaluate", "--quiet"});
}

} // namespace mtc::fuzz
