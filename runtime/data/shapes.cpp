// The tables of a shape are those of the program with other inputs and functions.
#include "runtime/data/shapes.h"

#include "runtime/support/element_type.h"

#include <algorithm>
#include <numeric>

namespace mtc::runtime {

static MtcProgram programOf(const MtcProgram &program, const MtcShape &shape) {
  MtcProgram own = program;
  own.batch = shape.batch;
  own.inputs = shape.inputs;
  own.outputs = shape.outputs;
  own.micro_step = shape.micro_step;
  own.evaluate = shape.evaluate;
  own.compute_outputs = shape.compute_outputs;
  own.micro_step_loss = shape.micro_step_loss;
  own.evaluate_loss = shape.evaluate_loss;
  own.row_metrics = shape.row_metrics;
  return own;
}

int64_t inputBytes(const MtcProgram &program) {
  return std::accumulate(
      program.inputs, program.inputs + program.input_count, int64_t{0},
      [](int64_t sum, const MtcInput &input) { return sum + input.tensor.bytes; });
}

Shapes::Shapes(const MtcProgram &program) {
  if (program.shape_count == 0)
    programs.push_back(program);
  for (uint32_t i = 0; i < program.shape_count; ++i)
    programs.push_back(programOf(program, program.shapes[i]));
  std::sort(programs.begin(), programs.end(),
            [](const MtcProgram &a, const MtcProgram &b) { return inputBytes(a) < inputBytes(b); });
}

bool Shapes::haveEqualExtents(size_t input, size_t other) const {
  return std::all_of(programs.begin(), programs.end(), [&](const MtcProgram &program) {
    const MtcTensor &one = program.inputs[input].tensor, &two = program.inputs[other].tensor;
    return one.rank > 0 && shapeOf(one) == shapeOf(two);
  });
}

bool Shapes::areNextTokens(size_t input, size_t tokens) const {
  return programs.front().inputs[input].shifted_from == static_cast<int32_t>(tokens);
}

} // namespace mtc::runtime
