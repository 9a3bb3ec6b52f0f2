// Runs the functions of a program on batches of the caller.
#include "runtime/library/trainer.h"

#include "runtime/abi/schedule.h"
#include "runtime/data/consecutive_batches.h"
#include "runtime/data/label_fill.h"
#include "runtime/data/value_range.h"
#include "runtime/loop/evaluation.h"
#include "runtime/loop/schedule.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/export_model.h"
#include "runtime/state/export_weights.h"
#include "runtime/state/frozen_matrix.h"
#include "runtime/state/stored_variable.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/process.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace mtc::runtime {

int64_t trainerBytes(const MtcProgram &program, bool infers) {
  return infers ? std::max(program.arena_bytes, program.separate_arena_bytes) : program.arena_bytes;
}

static int chooseThreads(const MtcProgram &program, int wanted) {
  if (wanted < 0 || wanted > program.threads)
    userError("threads ", wanted, ": memory was planned for at most ", program.threads,
              " threads; expected 1 to ", program.threads, ", or 0 for all cores");
  return wanted ? wanted
                : static_cast<int>(std::clamp<int64_t>(program.threads, 1, availableCores()));
}

static void checkMemory(const TrainerOptions &options, int64_t needed) {
  if (!options.memory)
    return;
  if (options.memoryBytes < static_cast<size_t>(needed))
    userError("memory of ", options.memoryBytes, " bytes: expected at least ", needed, " bytes");
  if (reinterpret_cast<uintptr_t>(options.memory) % MTC_ALIGNMENT != 0)
    userError("memory at ", options.memory, ": expected an address that is a multiple of ",
              MTC_ALIGNMENT);
}

Trainer::Trainer(const MtcProgram &program, TrainerOptions given)
    : program(program), options(std::move(given)) {
  const int64_t bytes = trainerBytes(program, options.infers);
  Problems problems;
  problems.collect([&] { options.threads = chooseThreads(program, options.threads); });
  problems.collect([&] { checkMemory(options, bytes); });
  problems.collect([&] {
    if (options.totalSteps < 0)
      userError("total steps ", options.totalSteps, ": expected 0 or more");
    if (abi::findSchedule(program.schedule.kind)->hasEnd && options.totalSteps == 0)
      userError("the learning rate schedule ", program.schedule.kind,
                " depends on the last step; set the total number of steps");
  });
  problems.throwIfAny();
  state.seed = options.seed;
  state.scheduleSteps = options.totalSteps;
  device = openDevice(
      program, {options.device, options.threads, bytes, options.offloadFolder, options.memory});
  onDevice([&] {
    initializeVariables(program, *device, options.threads, options.weights, /*keepTrained=*/false);
    writeCopies(program, *device);
    device->prepare({});
  });
  listWeights();
}

Trainer::~Trainer() {
  // The destructor of the device needs the settings of the thread, too.
  if (device)
    device->onThisThread([&] { device.reset(); });
}

/// Runs an action that uses the device.
template <typename Action> void Trainer::onDevice(const Action &action) {
  device->onThisThread(action);
}

void Trainer::checkUsable() const {
  if (isBroken)
    userError("an earlier computation failed and left the weights undefined; load a checkpoint");
}

void Trainer::chooseSamples(int64_t count, bool shuffle, int64_t *samples) {
  const int64_t microSteps = program.accumulation.micro_steps;
  if (count < 1)
    userError("samples ", count, ": expected at least 1");
  state.shuffle = shuffle;
  const BatchOrigin origin = originOf(
      state, count, [](const EarlierSteps &steps) { return steps.batch * steps.microSteps; });
  const ConsecutiveBatches order(count, program.batch * microSteps, state.lastBatch, shuffle,
                                 state.seed, origin);
  Batch batch;
  order.batchOf(state.step + 1, microStep, microSteps, batch);
  if (batch.filler)
    userError("the checkpoint's run masks the last batch of an epoch (--last-batch mask), which a "
              "list of samples cannot represent; choose the samples without this function");
  std::copy(batch.rows.begin(), batch.rows.end(), samples);
}

char *Trainer::inputBuffer(uint32_t input) {
  if (!buffers)
    onDevice([&] { buffers = &device->batchBuffers(/*ahead=*/false); });
  return (*buffers)[input];
}

/// Loads a batch and checks its values.
void Trainer::load(Inputs inputs, bool needsLabels) {
  Problems problems;
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const MtcInput &input = program.inputs[i];
    const void *from = inputs ? inputs[i] : nullptr;
    const char *tokens = !from && input.shifted_from >= 0 && inputs
                             ? static_cast<const char *>(inputs[input.shifted_from])
                             : nullptr;
    char *to = inputBuffer(i);
    if (from && from != to)
      std::memcpy(to, from, static_cast<size_t>(input.tensor.bytes));
    else if (!from && input.is_label && !needsLabels)
      fillIgnored(input, input.tensor.rank ? input.tensor.dims[0] : 1, to);
    else if (!from && input.is_of_outputs && needsLabels)
      std::memset(to, 0, static_cast<size_t>(input.tensor.bytes));
    else if (tokens) {
      shiftTokens(program.inputs[input.shifted_from], tokens, input, to);
      if (const int32_t mask = findPaddingMask(program, input); mask >= 0 && inputs[mask])
        ignorePadding(program.inputs[mask], static_cast<const char *>(inputs[mask]), input, to);
    } else if (!from)
      problems.add("input '", input.tensor.name, "': no data; expected ",
                   typeName(input.tensor.type), " ", shapeText(shapeOf(input.tensor)));
    if (!from || !hasRange(input))
      continue;
    const int64_t count = input.tensor.bytes / typeBytes(input.tensor.type);
    if (std::optional<WrongValue> wrong = findWrongValue(input, to, count))
      problems.add("input '", input.tensor.name, "': element ", wrong->index, " is ", wrong->value,
                   "; expected ", rangeText(input));
  }
  problems.throwIfAny();
  device->takeBatch(/*ahead=*/false);
  buffers = nullptr;
}

/// Updates the copies of weights that were written.
void Trainer::refreshCopies() {
  if (std::exchange(copiesAreStale, false))
    writeCopies(program, *device);
}

void Trainer::setLearningRate(std::optional<double> rate) {
  state.schedule.reset();
  if (!rate)
    return;
  ScheduleSettings &constant = state.schedule.emplace();
  constant.kind = "constant";
  constant.rate = *rate;
}

double Trainer::nextLearningRate() const {
  return learningRate(scheduleOf(program, state), state.step + 1, state.scheduleSteps);
}

/// Runs the update after the last micro-step and returns its results.
Trainer::Step Trainer::update(double rate) {
  const MtcLossScaling &scaling = program.loss_scaling;
  auto request = [&](int64_t offset, int64_t bytes) {
    return offset < 0 ? std::nullopt : std::optional(device->request(offset, bytes));
  };
  auto receive = [&](std::optional<int64_t> from, auto value) {
    if (from)
      device->receive(*from, &value);
    return from ? std::optional(value) : std::nullopt;
  };
  const StepLossRequest loss = scalars().requestStepLoss(program.micro_step_loss);
  device->run(program.update);
  const std::optional<int64_t> norm = request(program.gradient_norm, sizeof(double)),
                               scale = request(scaling.used, sizeof(double)),
                               skipped = request(scaling.skipped, sizeof(char));
  device->wait();
  Step result{};
  result.loss = scalars().stepLoss(loss).value;
  result.step = ++state.step;
  result.updated = true;
  result.learningRate = rate;
  result.gradientNorm = receive(norm, 0.0);
  result.lossScale = receive(scale, 0.0);
  result.skipped = receive(skipped, char{0}).value_or(0) != 0;
  return result;
}

Trainer::Step Trainer::train(Inputs inputs) {
  checkUsable();
  onDevice([&] {
    load(inputs, /*needsLabels=*/true);
    refreshCopies();
    finiteVariables();
    const double rate = nextLearningRate();
    isBroken = true; // until the computation has succeeded
    scalars().set(state.step + 1, microStep, rate, state.seed);
    device->run(program.micro_step);
    last.updated = false;
    if (++microStep == program.accumulation.micro_steps) {
      microStep = 0;
      last = update(rate);
    } else {
      device->wait();
    }
    isBroken = false;
  });
  return last;
}

void Trainer::evaluate(Inputs inputs, int64_t samples) {
  checkUsable();
  if (samples < 1 || samples > program.batch)
    userError("samples ", samples, ": expected 1 to ", program.batch);
  if (!hasRowLoss(program) && samples < program.batch)
    userError("samples ", samples, ": the loss of this model is known for whole batches of ",
              program.batch, " only");
  onDevice([&] {
    load(inputs, /*needsLabels=*/true);
    refreshCopies();
    scalars().set(state.step + 1, /*microStep=*/0, /*learningRate=*/0, state.seed);
    device->run(program.evaluate);
    evaluation += sumsOfBatch(scalars(), samples, program.batch);
    device->wait();
  });
}

std::vector<double> Trainer::finishEvaluation() {
  std::vector<double> values;
  for (const MetricKind &metric : allMetrics())
    if (metric.isComputed(program))
      values.push_back(withoutSignOfNan(metric.value(evaluation)));
  evaluation = {};
  return values;
}

void Trainer::infer(Inputs inputs, void *const *outputs) {
  checkUsable();
  if (!options.infers)
    userError("inference needs memory for the outputs; create the trainer for inference");
  if (!program.output_count)
    userError("the model has no outputs");
  onDevice([&] {
    load(inputs, /*needsLabels=*/false);
    refreshCopies();
    scalars().set(state.step + 1, /*microStep=*/0, /*learningRate=*/0, state.seed);
    device->run(program.compute_outputs);
    for (uint32_t i = 0; i < program.output_count; ++i)
      if (void *to = outputs[i])
        device->read(addressOf(program.outputs[i]), program.outputs[i].bytes,
                     [&](const char *from, int64_t at, int64_t bytes) {
                       std::memcpy(static_cast<char *>(to) + at, from, static_cast<size_t>(bytes));
                     });
    device->wait();
  });
}

/// Returns the variables that are checked before they are saved.
const FiniteVariables &Trainer::finiteVariables() {
  if (!finite)
    finite.emplace(program, *device);
  return *finite;
}

/// Returns the path without symbolic links; "" if the folder does not exist.
static std::string realPath(const std::string &folder) {
  std::unique_ptr<char, decltype(&std::free)> path(realpath(folder.c_str(), nullptr), &std::free);
  return path ? path.get() : "";
}

void Trainer::save(const std::string &folder) {
  checkUsable();
  if (microStep)
    userError("a checkpoint needs a complete update; ", microStep, " of ",
              program.accumulation.micro_steps, " batches were accumulated");
  CheckpointFolder checkpoints(folder);
  checkpoints.checkReplaces(ownFolders.contains(realPath(folder)) ? folder : "");
  onDevice([&] { checkpoints.save(program, *device, state, finiteVariables()); });
  ownFolders.insert(realPath(folder));
}

/// Discards the gradients and losses of micro-steps before an update.
void Trainer::resetAccumulation() {
  if (!microStep)
    return;
  const MtcAccumulation &sums = program.accumulation;
  const double zero = 0;
  for (const int64_t offset : {sums.loss_sum, sums.count})
    if (offset >= 0)
      device->writeScalar(offset, &zero, sizeof zero);
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (const MtcVariable &variable = program.variables[i];
        variable.role == MTC_GRADIENT && variable.initial == MTC_INITIAL_ZERO)
      device->write(
          addressOf(variable.tensor), variable.tensor.bytes,
          [](char *to, int64_t, int64_t bytes) { std::memset(to, 0, static_cast<size_t>(bytes)); });
  microStep = 0;
}

void Trainer::load(const std::string &folder) {
  const Checkpoint checkpoint(program, folder);
  onDevice([&] {
    isBroken = true; // until all variables are loaded
    resetAccumulation();
    checkpoint.load(program, *device);
    writeCopies(program, *device);
    isBroken = false;
  });
  state = checkpoint.state();
  if (options.totalSteps)
    state.scheduleSteps = options.totalSteps;
  last = {};
  last.step = state.step;
  copiesAreStale = false;
  finite.reset();
  ownFolders.insert(realPath(folder));
}

void Trainer::listWeights() {
  tensors = exportedTensors(program);
  for (const ModuleTensor &tensor : tensors)
    weightList.push_back({tensor.name, tensor.type, tensor.dims, tensor.bytes()});
  for (uint32_t i = 0; i < program.buffer_count; ++i) {
    const MtcTensor &buffer = program.buffers[i].tensor;
    weightList.push_back({buffer.name, buffer.type, shapeOf(buffer), buffer.bytes});
  }
}

/// Returns the index of a weight in `weightList`.
size_t Trainer::findWeight(const std::string &name, size_t bytes) const {
  const auto found = std::find_if(weightList.begin(), weightList.end(),
                                  [&](const Weight &weight) { return weight.name == name; });
  if (found == weightList.end())
    userError("weight '", name, "': the model does not have it");
  if (static_cast<size_t>(found->bytes) != bytes)
    userError("weight '", name, "': expected ", found->bytes, " bytes (", typeName(found->type),
              " ", shapeText(found->dims), "), got ", bytes);
  return static_cast<size_t>(found - weightList.begin());
}

void Trainer::readWeight(const std::string &name, char *to, size_t bytes) {
  checkUsable();
  const size_t index = findWeight(name, bytes);
  if (index >= tensors.size()) {
    const std::vector<char> value =
        valueOf(program.buffers[index - tensors.size()], trainedBatches(program, state));
    std::memcpy(to, value.data(), value.size());
    return;
  }
  onDevice([&] {
    const FiniteVariables any;
    const ExportedValues values(program, *device, any, options.threads, options.weights, name);
    readTensor(values, tensors[index], [&](const char *from, int64_t at, int64_t count) {
      std::memcpy(to + at, from, static_cast<size_t>(count));
    });
    device->wait();
  });
}

void Trainer::writeWeight(const std::string &name, const char *from, size_t bytes) {
  checkUsable();
  const size_t index = findWeight(name, bytes);
  if (index >= tensors.size())
    userError("weight '", name, "': is a buffer that the model does not use; it cannot be written");
  for (const ModuleTensor::Piece &piece : tensors[index].pieces)
    for (uint32_t i = 0; i < program.adapter_count; ++i)
      if (program.adapters[i].base == static_cast<int32_t>(piece.variable))
        userError("weight '", name,
                  "': has an adapter, which its value includes; it cannot be "
                  "written");
  const std::vector<char> elements(from, from + bytes);
  onDevice([&] {
    for (const ModuleTensor::Piece &piece : tensors[index].pieces)
      writePiece(piece, tensors[index].type, elements);
  });
  copiesAreStale = true;
  finite.reset();
}

/// Writes the elements of a module's tensor that belong to one variable.
void Trainer::writePiece(const ModuleTensor::Piece &piece, uint32_t type,
                         const std::vector<char> &elements) {
  const MtcVariable &variable = program.variables[piece.variable];
  const StoredVariable stored(program, piece.variable);
  std::vector<char> value = elements;
  if (!isWhole(piece.image)) {
    const FiniteVariables any;
    value = ExportedValues(program, *device, any, options.threads, options.weights,
                           variable.tensor.name)
                .value(piece.variable);
    takeImage(*piece.image, type, elements, value.data());
  }
  if (variable.source)
    value = storeFrozen(variable, value, options.threads);
  auto fill = [&](char *to, int64_t at, int64_t count) {
    std::memcpy(to, value.data() + at, static_cast<size_t>(count));
  };
  if (variable.source)
    return device->write(addressOf(variable.tensor), variable.tensor.bytes, fill);
  stored.write(*device, fill);
  if (state.step > 0)
    return;
  // Averages begin at the initial weights.
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (const MtcVariable &average = program.variables[i];
        average.role == MTC_AVERAGE && average.initial == MTC_INITIAL_PARAMETER &&
        average.of == static_cast<int32_t>(piece.variable))
      stored.copyTo(*device, average);
}

void Trainer::exportWeights(const std::string &file) {
  checkUsable();
  onDevice([&] {
    runtime::exportWeights(program, *device, finiteVariables(), options.threads, options.weights,
                           trainedBatches(program, state), file);
  });
}

void Trainer::exportModel(const std::string &file) {
  checkUsable();
  onDevice([&] {
    runtime::exportModel(program, *device, finiteVariables(), options.threads, options.weights,
                         MTC_INFERENCE_FORM, file);
  });
}

} // namespace mtc::runtime
