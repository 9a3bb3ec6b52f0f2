// Runs the functions of a program on batches of the caller.
#include "runtime/library/trainer.h"

#include "runtime/abi/schedule.h"
#include "runtime/loop/evaluation.h"
#include "runtime/loop/schedule.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/stored_variable.h"
#include "runtime/support/failure.h"
#include "runtime/support/messages.h"
#include "runtime/support/process.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

namespace mtc::runtime {

int64_t trainerBytes(const MtcProgram &program, bool infers) {
  return infers ? std::max(program.arena_bytes, program.outputs_arena_bytes) : program.arena_bytes;
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
    : program(program), shapes(program), options(std::move(given)) {
  const int64_t bytes = trainerBytes(program, options.infers);
  Problems problems;
  problems.collect([&] { options.threads = chooseThreads(program, options.threads); });
  problems.collect([&] { checkMemory(options, bytes); });
  problems.collect([&] {
    if (options.totalSteps < 0)
      userError("total steps ", options.totalSteps, ": expected 0 or more");
  });
  problems.throwIfAny();
  state.seed = options.weights.seed = options.seed;
  state.scheduleSteps = options.totalSteps;
  options.weights.threads = options.threads;
  initial.emplace(program, options.weights, /*keepTrained=*/false);
  device = openDevice(
      program, {options.device, options.threads, bytes, options.offloadFolder, options.memory});
  onDevice([&] {
    initial->initialize(*device);
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

void Trainer::checkUsable() const {
  if (isBroken)
    userError("an earlier computation failed and left the weights undefined; load a checkpoint");
}

void Trainer::selectShape(size_t shape) {
  if (shape >= shapes.all().size())
    userError("shape ", shape, ": expected a number below ", shapes.all().size());
  shaped = &shapes.all()[shape];
}

char *Trainer::inputBuffer(uint32_t input) {
  if (!buffers)
    onDevice([&] { buffers = &device->batchBuffers(/*ahead=*/false); });
  return input < buffers->size() ? (*buffers)[input] : nullptr;
}

/// Loads a batch and checks its values.
void Trainer::load(Inputs inputs, int64_t samples, BatchUse use) {
  checkSamples(*shaped, samples, use);
  warnOfPadding(samples, use);
  inputBuffer(0);
  loadBatch(*shaped, {inputs, samples}, use, *buffers);
  device->takeBatch(/*ahead=*/false);
  buffers = nullptr;
}

/// Warns once that statistics over the batch include padding.
void Trainer::warnOfPadding(int64_t samples, BatchUse use) {
  if (use != BatchUse::Train || samples == shaped->batch || isWarnedOfPadding)
    return;
  isWarnedOfPadding = true;
  if (std::any_of(program.variables, program.variables + program.variable_count,
                  [](const MtcVariable &variable) { return variable.role == MTC_STATE; }))
    warn("a batch of ", samples, " samples is padded to ", shaped->batch,
         ", and the model updates statistics from each batch, such as those of batch "
         "normalization, which include the padding; leave out such batches (drop_last=True of a "
         "DataLoader) to train as without padding");
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

/// Returns whether the schedule depends on a last step that is not known yet.
static bool lacksEnd(const MtcSchedule &schedule, const TrainingState &state) {
  return abi::findSchedule(schedule.kind)->hasEnd && state.scheduleSteps == 0;
}

double Trainer::nextLearningRate() const {
  if (lacksEnd(scheduleOf(program, state), state))
    return std::numeric_limits<double>::quiet_NaN();
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
  const StepLossRequest loss = scalars().requestStepLoss(shaped->micro_step_loss);
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

Trainer::Step Trainer::train(Inputs inputs, int64_t samples) {
  checkUsable();
  checkTrains();
  checkSchedule();
  onDevice([&] {
    load(inputs, samples, BatchUse::Train);
    refreshCopies();
    finiteVariables();
    const double rate = nextLearningRate();
    isBroken = true; // until the computation has succeeded
    scalars().set(state.step + 1, microStep, rate, state.seed);
    device->run(shaped->micro_step);
    last.updated = false;
    if (++microStep == program.accumulation.micro_steps) {
      microStep = 0;
      last = update(rate);
    } else {
      device->wait();
    }
    isBroken = false;
  });
  if (run && last.updated)
    run->step({.step = last.step,
               .loss = last.loss,
               .learningRate = last.learningRate,
               .gradientNorm = last.gradientNorm,
               .lossScale = last.lossScale,
               .skipped = last.skipped});
  return last;
}

void Trainer::evaluate(Inputs inputs, int64_t samples) {
  checkUsable();
  if (evaluatedSamples == 0)
    evaluationBegin = std::chrono::steady_clock::now();
  onDevice([&] {
    load(inputs, samples, BatchUse::Evaluate);
    refreshCopies();
    scalars().set(state.step + 1, /*microStep=*/0, /*learningRate=*/0, state.seed);
    device->run(shaped->evaluate);
    evaluation += sumsOfBatch(scalars(), samples, shaped->batch);
    device->wait();
  });
  evaluatedSamples += samples;
}

std::vector<double> Trainer::finishEvaluation() {
  std::vector<double> values;
  for (const MetricKind &metric : allMetrics())
    if (metric.isComputed(program))
      values.push_back(withoutSignOfNan(metric.value(evaluation)));
  evaluation = {};
  evaluatedSamples = 0;
  return values;
}

/// Returns the bytes of the first samples of an output, or of all of an output without a row for
/// each sample.
static int64_t bytesOf(const MtcProgram &program, const MtcTensor &output, int64_t samples) {
  const bool hasRows = output.rank && output.dims[0] == program.batch;
  return hasRows ? output.bytes / program.batch * samples : output.bytes;
}

void Trainer::infer(Inputs inputs, int64_t samples, void *const *outputs) {
  checkUsable();
  if (!options.infers)
    userError("inference needs memory for the outputs; create the trainer for inference");
  if (!program.output_count)
    userError("the model has no outputs");
  onDevice([&] {
    load(inputs, samples, BatchUse::Infer);
    refreshCopies();
    scalars().set(state.step + 1, /*microStep=*/0, /*learningRate=*/0, state.seed);
    device->run(shaped->compute_outputs);
    for (uint32_t i = 0; i < program.output_count; ++i)
      if (void *to = outputs[i])
        device->read(addressOf(shaped->outputs[i]), bytesOf(*shaped, shaped->outputs[i], samples),
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
  auto saveIn = [&](CheckpointFolder &checkpoints) {
    onDevice([&] { checkpoints.save(program, *device, state, finiteVariables()); });
  };
  if (CheckpointFolder *ofRun = run ? run->folderAt(folder) : nullptr) {
    saveIn(*ofRun);
    run->restartClock();
  } else {
    CheckpointFolder checkpoints(folder);
    if (!isOwn(folder))
      checkReplaces(checkpoints);
    saveIn(checkpoints);
  }
  ownFolders.insert(realPath(folder));
}

bool Trainer::isOwn(const std::string &folder) const {
  return ownFolders.contains(realPath(folder));
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
    writeSettings(program, *device, checkpoint.state().settings);
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
  isResumed = false;
  ownFolders.insert(realPath(folder));
}

void Trainer::resume(const std::string &folder) {
  load(folder);
  isResumed = true;
}

/// Throws if the learning rate of the next step depends on an unknown last step.
void Trainer::checkSchedule() const {
  const MtcSchedule schedule = scheduleOf(program, state);
  if (lacksEnd(schedule, state))
    userError(
        "the learning rate schedule ", schedule.kind,
        " depends on the last step of training; set total_steps, for example total_steps=1000");
}

/// Sets the last step of the schedule to that of a run, unless it is known.
void Trainer::extendSchedule(int64_t lastStep) {
  const MtcSchedule schedule = scheduleOf(program, state);
  if (!abi::findSchedule(schedule.kind)->hasEnd)
    return;
  if (state.scheduleSteps == 0)
    state.scheduleSteps = lastStep;
  checkSchedule();
  if (lastStep > state.scheduleSteps && learningRate(schedule, lastStep, state.scheduleSteps) == 0)
    userError("the learning rate schedule ", schedule.kind, " ends at step ", state.scheduleSteps,
              " with a rate of 0, and this run ends at step ", lastStep,
              "; set total_steps, for example total_steps=", lastStep);
}

void Trainer::beginRun(RunOptions given) {
  checkUsable();
  checkTrains();
  run.reset();
  extendSchedule(given.lastStep);
  run.emplace(program, state, std::move(given),
              [this](const std::string &folder) { return isOwn(folder); });
  if (const std::string folder = run->folder(); !folder.empty())
    ownFolders.insert(realPath(folder));
}

Run &Trainer::currentRun() {
  if (!run)
    userError("no run has begun");
  return *run;
}

Trainer::Validation Trainer::finishValidation(std::vector<std::pair<std::string, double>> metrics) {
  Run &current = currentRun();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - evaluationBegin;
  ValidationMetrics found = {
      .step = state.step, .samples = evaluatedSamples, .seconds = taken.count()};
  Validation result{finishEvaluation(), false};
  size_t index = 0;
  for (const MetricKind &metric : allMetrics())
    if (metric.isComputed(program)) {
      const double value = result.values[index];
      if (index++ == 0)
        found.loss = value;
      else
        found.metrics.emplace_back(metric.name, value);
    }
  std::move(metrics.begin(), metrics.end(), std::back_inserter(found.metrics));
  result.isBest = current.validation(std::move(found));
  if (result.isBest)
    onDevice([&] { current.saveBest(*device, finiteVariables()); });
  current.restartClock();
  return result;
}

void Trainer::endRun(RunOutcome outcome, const std::string &message) {
  currentRun();
  Problems problems;
  problems.attempt([&] { run->end(outcome, message); });
  run.reset(); // The run ends even if a report cannot be written.
  problems.throwIfAny();
}

} // namespace mtc::runtime
