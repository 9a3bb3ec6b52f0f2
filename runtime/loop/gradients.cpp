// Runs the micro-steps of one step and writes the gradient variables.
#include "runtime/loop/gradients.h"

#include "runtime/io/safetensors.h"
#include "runtime/reports/standard_output.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/floats.h"
#include "runtime/support/messages.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace mtc::runtime {
namespace {

std::vector<const MtcVariable *> gradientsOf(const MtcProgram &program) {
  std::vector<const MtcVariable *> gradients;
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (program.variables[i].role == MTC_GRADIENT)
      gradients.push_back(&program.variables[i]);
  return gradients;
}

/// Runs all micro-steps of a step.
StepLoss runMicroSteps(const Session &session, const TrainingState &state, int64_t step) {
  const MtcProgram &program = session.program; // Its first shape, see DataTransforms.
  const bool isApart = program.gradients.count > 0;
  for (int64_t micro = 0; micro < session.microSteps(); ++micro) {
    session.run(Phase::Load, step, [&] {
      session.scalars().set(step, micro, /*learningRate=*/0, state.seed);
      session.loadBatch({step, micro}, micro + 1 < session.microSteps()
                                           ? BatchPosition{step, micro + 1}
                                           : noBatch);
    });
    session.run(Phase::MicroStep, step,
                [&] { session.device.run(isApart ? program.gradients : program.micro_step); });
  }
  return session.scalars().stepLoss(session.scalars().requestStepLoss(
      isApart ? program.gradients_loss : program.micro_step_loss));
}

/// Resets the accumulated values to zero, as an update does.
void clearSums(const Session &session) {
  const MtcAccumulation &sums = session.program.accumulation;
  if (sums.micro_steps == 1)
    return;
  auto clear = [&](ArenaAddress address, int64_t size) {
    session.device.write(address, size, [](char *to, int64_t, int64_t bytes) {
      std::memset(to, 0, static_cast<size_t>(bytes));
    });
  };
  for (const MtcVariable *gradient : gradientsOf(session.program))
    clear(addressOf(gradient->tensor), gradient->tensor.bytes);
  clear(sums.loss_sum, sizeof(double));
  if (sums.count >= 0)
    clear(sums.count, sizeof(double));
}

/// Returns whether all elements of the variable are finite.
bool isFinite(Device &device, const MtcVariable &variable) {
  bool finite = true;
  device.read(addressOf(variable.tensor), variable.tensor.bytes,
              [&](const char *from, int64_t, int64_t bytes) {
                finite = finite && runtime::isFinite(variable.tensor.type, from, bytes);
              });
  return finite;
}

/// Runs a step without its update, and repeats it with half the scale until all gradients are
/// finite or the scale is at its minimum. Returns the loss and the remaining factor of the
/// gradients.
StepLoss runScaled(const Session &session, const TrainingState &state, int64_t step) {
  const MtcLossScaling &scaling = session.program.loss_scaling;
  StepLoss loss = runMicroSteps(session, state, step);
  if (scaling.scale < 0)
    return loss;
  float scale = 0;
  session.device.read(scaling.scale, sizeof scale, [&](const char *from, int64_t, int64_t) {
    std::memcpy(&scale, from, sizeof scale);
  });
  const std::vector<const MtcVariable *> gradients = gradientsOf(session.program);
  auto isFiniteGradient = [&](const MtcVariable *gradient) {
    return isFinite(session.device, *gradient);
  };
  const auto minimum = static_cast<float>(scaling.min_scale);
  while (scale > minimum && !std::ranges::all_of(gradients, isFiniteGradient)) {
    scale = std::max(scale / 2, minimum);
    session.device.writeScalar(scaling.scale, &scale, sizeof scale);
    clearSums(session);
    loss = runMicroSteps(session, state, step);
  }
  return {loss.value, loss.gradientFactor / static_cast<double>(scale)};
}

template <typename Element> void multiply(std::vector<char> &elements, double factor) {
  auto *numbers = reinterpret_cast<Element *>(elements.data());
  for (size_t i = 0; i < elements.size() / sizeof(Element); ++i)
    numbers[i] *= static_cast<Element>(factor);
}

/// Returns the element type of a gradient in the file: f32 for gradients stored in narrower types.
uint32_t writtenType(const MtcTensor &gradient) { return mtc_sum_type(gradient.type); }

/// Passes the value of a gradient times `factor` to `use`, in chunks of `writtenType`.
void readScaled(Device &device, const MtcTensor &tensor, double factor, const Device::Use &use) {
  const uint32_t type = writtenType(tensor);
  if (factor == 1 && type == tensor.type)
    return device.read(addressOf(tensor), tensor.bytes, use);
  constexpr int64_t maximum = 1 << 16;
  const int64_t growth = typeBytes(type) / typeBytes(tensor.type);
  std::vector<char> piece;
  device.read(addressOf(tensor), tensor.bytes, [&](const char *from, int64_t at, int64_t bytes) {
    for (int64_t begin = 0; begin < bytes; begin += maximum) {
      const int64_t size = std::min(maximum, bytes - begin);
      piece.resize(static_cast<size_t>(size * growth));
      if (type == tensor.type)
        std::memcpy(piece.data(), from + begin, piece.size());
      else
        widenFloats(tensor.type, from + begin, size / typeBytes(tensor.type),
                    reinterpret_cast<float *>(piece.data()));
      assert((type == MTC_F32 || type == MTC_F64) && "as parameters that are trained");
      (type == MTC_F64 ? multiply<double> : multiply<float>)(piece, factor);
      use(piece.data(), (at + begin) * growth, static_cast<int64_t>(piece.size()));
    }
  });
}

void warnOfGradients(double loss, const std::vector<std::string> &notFinite) {
  if (!std::isfinite(loss))
    warn("the loss is ", loss);
  constexpr size_t shown = 5;
  for (size_t i = 0; i < std::min(notFinite.size(), shown); ++i)
    warn("the gradient of '", notFinite[i], "' holds values that are not finite");
  if (notFinite.size() > shown)
    warn("so do the gradients of ", notFinite.size() - shown, " other parameters");
}

} // namespace

void writeGradients(const Session &session, const TrainingState &state) {
  const MtcProgram &program = session.program;
  const std::vector<const MtcVariable *> gradients = gradientsOf(program);
  if (gradients.empty())
    userError("--gradients: this program trains no parameters");
  std::vector<SafetensorsEntry> entries;
  for (const MtcVariable *gradient : gradients) {
    const MtcTensor &parameter = program.variables[gradient->of].tensor;
    entries.push_back({parameter.name, writtenType(gradient->tensor), shapeOf(parameter)});
  }
  const int64_t step = state.step + 1;
  const StepLoss loss = runScaled(session, state, step);
  SafetensorsWriter writer(session.options.gradients, entries);
  std::vector<std::string> notFinite;
  for (size_t i = 0; i < gradients.size(); ++i) {
    const MtcTensor &tensor = gradients[i]->tensor;
    bool finite = true;
    readScaled(session.device, tensor, loss.gradientFactor,
               [&](const char *from, int64_t at, int64_t bytes) {
                 writer.write(i, at, from, bytes);
                 finite = finite && runtime::isFinite(writtenType(tensor), from, bytes);
               });
    if (!finite)
      notFinite.push_back(entries[i].name);
  }
  writer.commit();
  warnOfGradients(loss.value, notFinite);
  if (!session.options.quiet)
    print("loss %.9g; %zu gradients in %s\n", loss.value, gradients.size(),
          printable(session.options.gradients).c_str());
}

} // namespace mtc::runtime
