#include "test/runtime/loop/stage_programs.h"

#include "runtime/abi/collective.h"

#include <string>
#include <utility>

namespace mtc::test {
namespace {

constexpr int64_t batch = 4, features = 3, base = (int64_t{5} << 20);
/// An offset that faults if the runtime accesses it.
constexpr int64_t nowhere = -(int64_t{1} << 44);

/// Arena offsets in addition to those of the sample.
constexpr int64_t yAt(int64_t slot) { return base + slot * 64; }
constexpr int64_t xAt(int64_t slot) { return base + 128 + slot * 64; }
constexpr int64_t errorAt(int64_t slot) { return base + 256 + slot * 64; }
enum Offset : int64_t {
  weightSumAt = base + 384,
  biasSumAt = base + 448,
  lossSumAt = base + 512,
  countAt = base + 576,
  lossSumsAt = base + 640, ///< of all ranks
  countsAt = base + 704,
  stepLossAt = base + 768,
  stepCountAt = base + 832,
  microStepAt = base + 896,
  gatheredAt = base + 960, ///< sums of a gradient, of the ranks of a stage
  allRanksAt = base + 1024,
  stageRanksAt = base + 1088, ///< number of ranks of a stage
  settingAt = base + 1152,    ///< that only the last stage reads
  arenaEnd = base + 1216
};

float *floats(char *operand) { return reinterpret_cast<float *>(operand); }
double *doubles(char *operand) { return reinterpret_cast<double *>(operand); }
int64_t number(char *operand) { return *reinterpret_cast<int64_t *>(operand); }

/// operands: gradient, sum, micro-step. The weight depends on the number of the micro-step.
void addKernel(char *const *operands, int64_t begin, int64_t end, MtcFault *) {
  const auto weight = static_cast<float>(3 + number(operands[2])) / 8;
  for (int64_t i = begin; i < end; ++i)
    floats(operands[1])[i] += floats(operands[0])[i] * weight;
}

/// operands: loss, sum of losses, number of targets, micro-step
void countKernel(char *const *operands, int64_t, int64_t, MtcFault *) {
  *doubles(operands[1]) +=
      static_cast<double>(*floats(operands[0])) / static_cast<double>(3 + number(operands[3]));
  *doubles(operands[2]) += batch;
}

/// operands: sums of losses and targets of all ranks, of this rank, of the step, number of ranks
void joinKernel(char *const *operands, int64_t, int64_t, MtcFault *) {
  *doubles(operands[4]) = *doubles(operands[5]) = 0;
  for (int64_t i = 0; i < number(operands[6]); ++i) {
    *doubles(operands[4]) += doubles(operands[0])[i];
    *doubles(operands[5]) += doubles(operands[1])[i];
  }
  *doubles(operands[2]) = *doubles(operands[3]) = 0;
}

/// operands: sums of a gradient of the ranks of the stage, of this rank, gradient, their number
template <int64_t elements> void takeKernel(char *const *operands, int64_t, int64_t, MtcFault *) {
  for (int64_t i = 0; i < elements; ++i) {
    float sum = 0;
    for (int64_t rank = 0; rank < number(operands[3]); ++rank)
      sum += floats(operands[0])[rank * elements + i];
    floats(operands[2])[i] = sum;
    floats(operands[1])[i] = 0;
  }
}

enum Kernel : uint32_t {
  addWeight,
  addBias,
  countTargets,
  join,
  takeWeight,
  takeBias,
  kernelCount
};

/// Returns operand `index` of operation `operation` of a function of the sample.
int64_t operandOf(uint32_t function, uint32_t operation, uint32_t index) {
  return mtc_program.functions[function].operations[operation].operands[index];
}

MtcTask load(int64_t microStep) { return {MTC_LOAD_TASK, 0, microStep}; }
MtcTask start(uint32_t message) { return {MTC_START_TASK, message, 0}; }
MtcTask wait(uint32_t message) { return {MTC_WAIT_TASK, message, 0}; }

} // namespace

StagePrograms::StagePrograms(int64_t stages, bool hasTasks, int64_t data)
    : stages(stages), data(data), hasTasks(hasTasks), numbersOfRanks{stages * data, data} {
  code = {{addKernel, features, 1},     {addKernel, 1, 1},
          {countKernel, 1, 1},          {joinKernel, 1, 1},
          {takeKernel<features>, 1, 1}, {takeKernel<1>, 1, 1}};
  for (const MtcCpuStage &stage : code)
    kernelCode.push_back({1, &stage});
  kernels.assign(mtc_program.kernels, mtc_program.kernels + mtc_program.kernel_count);
  for (const MtcCpuKernel &each : kernelCode)
    kernels.push_back({"of the stages", &each, 0, 0, 0, 0});
  for (int64_t stage = 0; stage < stages; ++stage)
    addStage(stage);
  if (stages > 1) {
    tables.front().following_stage_count = 1;
    tables.front().following_stages = &tables[1];
  }
}

MtcOperation StagePrograms::launch(uint32_t kernel, std::vector<int64_t> operands,
                                   const char *nodes) {
  lists.push_back(std::move(operands));
  MtcOperation operation = {};
  operation.kind = MTC_LAUNCH;
  operation.index = mtc_program.kernel_count + kernel;
  operation.operand_count = static_cast<uint32_t>(lists.back().size());
  operation.operands = lists.back().data();
  operation.nodes = nodes;
  return operation;
}

/// Returns an operation of the sample's micro-step with other operands.
MtcOperation StagePrograms::moved(uint32_t index,
                                  const std::vector<std::pair<int64_t, int64_t>> &moves) {
  MtcOperation operation = mtc_program.functions[0].operations[index];
  std::vector<int64_t> &operands =
      lists.emplace_back(operation.operands, operation.operands + operation.operand_count);
  for (const auto &[operand, offset] : moves)
    operands[static_cast<size_t>(operand)] = offset;
  operation.operands = operands.data();
  return operation;
}

/// Returns an all_gather of a value of `bytes` bytes of each rank of a group.
MtcOperation StagePrograms::gather(int64_t ranks, int64_t stride, int64_t bytes, int64_t from,
                                   int64_t to) {
  const std::vector<int64_t> &piece = lists.emplace_back(1, bytes),
                             &total = lists.emplace_back(1, bytes * ranks),
                             &operands = lists.emplace_back(std::vector{from, to});
  collectives.back().push_back({MTC_ALL_GATHER, 1, ranks, stride, 1, piece.data(), total.data()});
  MtcOperation operation = {};
  operation.kind = MTC_TRANSFER;
  operation.index = static_cast<uint32_t>(collectives.back().size() - 1);
  operation.operand_count = 2;
  operation.operands = operands.data();
  operation.nodes = "gathered";
  return operation;
}

/// x · weight into a slot, which also keeps x for the gradient.
std::vector<MtcOperation> StagePrograms::forward(int64_t slot) {
  const std::vector<int64_t> &copied =
      lists.emplace_back(std::vector{operandOf(0, 0, 0), xAt(slot)});
  MtcOperation copy = {};
  copy.kind = MTC_COPY;
  copy.operand_count = 2;
  copy.operands = copied.data();
  copy.bytes = batch * features * 4;
  copy.nodes = "x";
  return {moved(0, {{2, yAt(slot)}}), copy};
}

/// The loss of a slot, and the gradients of x · weight and of the bias.
std::vector<MtcOperation> StagePrograms::withLoss(int64_t slot) {
  return {moved(1, {}),
          moved(2, {{0, yAt(slot)}, {3, errorAt(slot)}}),
          moved(3, {}),
          moved(5, {{0, errorAt(slot)}}),
          moved(6, {{0, yAt(slot)}}),
          launch(addBias, {operandOf(0, 5, 1), biasSumAt, microStepAt}, "sum of bias"),
          launch(countTargets, {mtc_program.micro_step_loss, lossSumAt, countAt, microStepAt},
                 "sum of losses")};
}

std::vector<MtcOperation> StagePrograms::backward(int64_t slot) {
  return {moved(4, {{0, errorAt(slot)}, {1, xAt(slot)}}),
          launch(addWeight, {operandOf(0, 4, 2), weightSumAt, microStepAt}, "sum of weight")};
}

/// The update of a stage: a stage that has the bias has more collectives than the other.
std::vector<MtcOperation> StagePrograms::updateOf(int64_t stage) {
  std::vector<MtcOperation> result;
  auto update = [&](uint32_t operation, Kernel take, int64_t elements, int64_t sum) {
    const int64_t gradient = operandOf(1, operation, 1);
    result.push_back(gather(data, 1, elements * 4, sum, gatheredAt));
    result.push_back(launch(take, {gatheredAt, sum, gradient, stageRanksAt}, "gradient"));
    result.push_back(mtc_program.functions[1].operations[operation]);
  };
  if (stage == stages - 1)
    update(1, takeBias, 1, biasSumAt);
  const int64_t ranks = stages * data;
  result.push_back(gather(ranks, 1, 8, lossSumAt, lossSumsAt));
  if (stage == stages - 1)
    result.push_back(gather(data, 1, 4, biasSumAt, gatheredAt));
  result.push_back(gather(ranks, 1, 8, countAt, countsAt));
  result.push_back(
      launch(join, {lossSumsAt, countsAt, lossSumAt, countAt, stepLossAt, stepCountAt, allRanksAt},
             "loss"));
  if (stage == 0)
    update(0, takeWeight, features, weightSumAt);
  return result;
}

MtcSequence StagePrograms::addFunction(std::vector<MtcOperation> list) {
  operations.push_back(std::move(list));
  functions.back().push_back(
      {static_cast<uint32_t>(operations.back().size()), operations.back().data()});
  numbers.push_back(static_cast<uint32_t>(functions.back().size() - 1));
  return {1, &numbers.back()};
}

static std::vector<MtcOperation> joined(std::vector<MtcOperation> first,
                                        const std::vector<MtcOperation> &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Returns the variables of the tables of a stage.
static std::vector<MtcVariable> variablesOf(int64_t stage, int64_t stages,
                                            const int64_t *numbersOfRanks) {
  std::vector<MtcVariable> list(mtc_program.variables,
                                mtc_program.variables + mtc_program.variable_count);
  auto add = [&](const char *name, uint32_t type, int64_t offset, MtcRole role) {
    MtcVariable variable = {};
    variable.tensor = {name, type, 0, nullptr, offset, 8, MTC_DEVICE};
    variable.role = role;
    variable.of = variable.stage = -1;
    list.push_back(variable);
  };
  for (MtcVariable &variable : list) {
    const std::string name = variable.tensor.name;
    variable.stage = name == "decay"                 ? -1
                     : name.starts_with("fc.weight") ? 0
                                                     : static_cast<int32_t>(stages - 1);
    if (variable.role == MTC_GRADIENT)
      variable.tensor.offset = variable.of == 0 ? weightSumAt : biasSumAt;
    if (variable.stage >= 0 && variable.stage != stage)
      variable.tensor.offset = nowhere;
  }
  add("loss_sum", MTC_F64, lossSumAt, MTC_OPTIMIZER);
  add("target_count", MTC_F64, countAt, MTC_OPTIMIZER);
  for (const int64_t *ranks : {&numbersOfRanks[0], &numbersOfRanks[1]}) {
    add(ranks == numbersOfRanks ? "ranks" : "ranks of a stage", MTC_I64,
        ranks == numbersOfRanks ? allRanksAt : stageRanksAt, MTC_CONSTANT);
    list.back().initial = MTC_INITIAL_DATA;
    list.back().data = ranks;
  }
  return list;
}

void StagePrograms::addMessages(int64_t stage) {
  const bool isFirst = stage == 0;
  const int64_t distance = isFirst ? data : -data;
  auto add = [&](bool isSent, uint32_t channel, int64_t at, const char *nodes) {
    const std::vector<int64_t> &offsets = lists.emplace_back(std::vector{at, at + 8}),
                               &bytes = lists.emplace_back(2, 8);
    messages.back().push_back({distance, isSent, channel, 2, offsets.data(), bytes.data(), nodes});
  };
  for (int64_t slot = 0; slot < slots; ++slot)
    add(isFirst, 0, yAt(slot), "/fc/Gemm");
  for (int64_t slot = 0; slot < slots; ++slot)
    add(!isFirst, 1, errorAt(slot), "backward /fc/Gemm");
}

/// Adds the functions of a stage. 0 and 1 are the forward pass in each slot, 2 and 3 the backward
/// pass or the evaluation.
void StagePrograms::addFunctions(MtcProgram &program, int64_t stage) {
  for (int64_t slot = 0; slot < slots; ++slot) {
    std::vector<MtcOperation> list = stage == 0 ? forward(slot) : std::vector<MtcOperation>();
    if (stage == stages - 1)
      list = joined(list, withLoss(slot));
    if (stages == 1)
      list = joined(list, backward(slot));
    const MtcSequence microStep = addFunction(list);
    if (!hasTasks && slot == 0)
      program.micro_step = microStep;
  }
  for (int64_t slot = 0; slot < slots; ++slot)
    if (stages == 1)
      program.evaluate = program.compute_outputs = addFunction(
          joined(forward(slot), {moved(1, {}), moved(2, {{0, yAt(slot)}}), moved(3, {})}));
    else if (stage == 0)
      addFunction(backward(slot));
    else
      addFunction({moved(1, {}), moved(2, {{0, yAt(slot)}}), moved(3, {})});
  program.update = addFunction(updateOf(stage));
}

void StagePrograms::addStage(int64_t stage) {
  MtcProgram program = mtc_program;
  for (auto *each : {&program.micro_step, &program.evaluate, &program.compute_outputs})
    *each = {};
  functions.emplace_back();
  collectives.emplace_back();
  messages.emplace_back();
  variables.push_back(variablesOf(stage, stages, numbersOfRanks));
  inputs.emplace_back(program.inputs, program.inputs + program.input_count);
  outputs.emplace_back(program.outputs, program.outputs + program.output_count);
  rowValues.emplace_back(program.row_metrics.values,
                         program.row_metrics.values + program.row_metrics.value_count);
  outputs.back()[0].offset = yAt(stages == 1 ? 1 : 0);
  if (stage > 0)
    inputs.back()[0].tensor.offset = -1;
  if (stage < stages - 1) {
    inputs.back()[1].tensor.offset = -1;
    for (MtcTensor &output : outputs.back())
      output.offset = nowhere;
    for (MtcRowValue &value : rowValues.back())
      value.offset = nowhere;
  }
  program.ranks = stages * data;
  program.stages = stages;
  program.stage = stage;
  program.results_stage = stages - 1;
  program.arena_bytes = program.separate_arena_bytes = program.outputs_arena_bytes = arenaEnd;
  program.kernels = kernels.data();
  program.kernel_count = static_cast<uint32_t>(kernels.size());
  addFunctions(program, stage);
  if (stages > 1)
    addMessages(stage);
  program.functions = functions.back().data();
  program.function_count = static_cast<uint32_t>(functions.back().size());
  program.collectives = collectives.back().data();
  program.collective_count = static_cast<uint32_t>(collectives.back().size());
  program.messages = messages.back().data();
  program.message_count = static_cast<uint32_t>(messages.back().size());
  program.variables = variables.back().data();
  program.variable_count = static_cast<uint32_t>(variables.back().size());
  program.inputs = inputs.back().data();
  program.outputs = outputs.back().data();
  program.row_metrics.values = rowValues.back().data();
  program.scalars.micro_step = microStepAt;
  settings.push_back(
      {"scale", "scale", "", stage == stages - 1 ? int64_t{settingAt} : nowhere, 1, 0, 2});
  program.settings = &settings.back();
  program.setting_count = 1;
  const int64_t all = microSteps * data;
  program.accumulation = {all,
                          lossSumAt,
                          countAt,
                          hasTasks ? stepLossAt : -1,
                          hasTasks ? stepCountAt : -1,
                          static_cast<double>(all * batch)};
  if (hasTasks)
    addTasks(program);
  tables.push_back(program);
}

void StagePrograms::addTasks(MtcProgram &program) {
  auto add = [&](std::vector<MtcTask> list) {
    tasks.push_back(std::move(list));
    return MtcTaskList{static_cast<uint32_t>(tasks.back().size()), tasks.back().data()};
  };
  auto run = [](uint32_t function, int64_t microStep) {
    return MtcTask{MTC_RUN_TASK, function, microStep};
  };
  if (stages == 1) {
    program.micro_steps = add({load(0), run(0, 0), load(1), run(1, 1), load(2), run(0, 2)});
    return;
  }
  // Messages 0 and 1 are x · weight in each slot, 2 and 3 its gradient.
  if (program.stage == 0) {
    program.micro_steps =
        add({load(0), run(0, 0), start(0), load(1), run(1, 1), start(1), start(2),
             wait(2), run(2, 0), load(2),  wait(0), run(0, 2), start(0), start(3),
             wait(3), run(3, 1), start(2), wait(2), run(2, 2), wait(0),  wait(1)});
    program.evaluate_tasks = program.outputs_tasks = add({load(0), run(0, 0), start(0), wait(0)});
  } else {
    program.micro_steps =
        add({start(0), start(1), load(0), wait(0), run(0, 0), start(2), load(1), wait(1), run(1, 1),
             start(3), start(0), load(2), wait(0), wait(2), run(0, 2), start(2), wait(3), wait(2)});
    program.evaluate_tasks = program.outputs_tasks = add({start(0), load(0), wait(0), run(2, 0)});
  }
}

} // namespace mtc::test
