// A handwritten program in the form that the compiler writes: linear regression by gradient descent
// with momentum.
//
//   y = x · weightᵀ + bias, loss = mean (y − target)², momentum = 0.9 · momentum + grad, weight −=
//   lr · momentum
//
// It has every kind of variable: parameters (random, zero), a constant with data, state that each
// step changes, gradients and optimizer state. The batch size is 4, and samples have 3 features.
// The model that it exports is the mark of ONNX files, "TRAINING" or "INFERENCE" by its form,
// "HEAD", weight, "BODY", bias, "TAIL".
#include "runtime/abi/contraction.h"
#include "runtime/abi/cpu.h"
#include "runtime/abi/file_marks.h"

#include <cstring>

namespace {

constexpr int64_t batch = 4, features = 3;

enum Offset : int64_t {
  xAt = 0,
  targetAt = 64,
  yAt = 128,
  errorAt = 192, // 2 (y − target) / batch
  lossAt = 256,
  rowLossAt = 320,
  rowWeightAt = 384,
  weightAt = 448,
  biasAt = 512,
  weightGradAt = 576,
  biasGradAt = 640,
  weightMomentumAt = 704,
  biasMomentumAt = 768,
  decayAt = 832,
  seenAt = 896,
  rateAt = 960,
  stepAt = 1024,
  seedAt = 1088,
  scratchAt = 1152,
  stagedAt = scratchAt + (int64_t{4} << 20), // x and target of the next batch
  arenaBytes = stagedAt + 128
};

float *floats(char *operand) { return reinterpret_cast<float *>(operand); }

/// operands: y (in: x · weightᵀ, out: + bias), bias, target, error, row loss, row weight
void errorKernel(char *const *operands, int64_t begin, int64_t end, MtcFault *) {
  float *y = floats(operands[0]), *bias = floats(operands[1]), *target = floats(operands[2]);
  for (int64_t i = begin; i < end; ++i) {
    y[i] += bias[0];
    float difference = y[i] - target[i];
    floats(operands[3])[i] = 2 * difference / batch;
    floats(operands[4])[i] = difference * difference;
    floats(operands[5])[i] = 1;
  }
}

/// operands: row loss, loss
void lossKernel(char *const *operands, int64_t, int64_t, MtcFault *) {
  float sum = 0;
  for (int64_t i = 0; i < batch; ++i)
    sum += floats(operands[0])[i];
  floats(operands[1])[0] = sum / batch;
}

/// operands: error, bias gradient
void biasGradientKernel(char *const *operands, int64_t, int64_t, MtcFault *) {
  float sum = 0;
  for (int64_t i = 0; i < batch; ++i)
    sum += floats(operands[0])[i];
  floats(operands[1])[0] = sum;
}

/// operands: y, state: a running mean of the predictions
void seenKernel(char *const *operands, int64_t, int64_t, MtcFault *) {
  float *seen = floats(operands[1]);
  for (int64_t i = 0; i < batch; ++i)
    seen[0] = 0.99f * seen[0] + 0.01f * floats(operands[0])[i];
}

/// operands: parameter, gradient, momentum, rate, decay
void updateKernel(char *const *operands, int64_t begin, int64_t end, MtcFault *) {
  auto rate = static_cast<float>(*reinterpret_cast<const double *>(operands[3]));
  for (int64_t i = begin; i < end; ++i) {
    float &momentum = floats(operands[2])[i];
    momentum = floats(operands[4])[0] * momentum + floats(operands[1])[i];
    floats(operands[0])[i] -= rate * momentum;
  }
}

/// operands: target. A target above 1000 is reported like an out-of-bounds index.
void faultKernel(char *const *operands, int64_t begin, int64_t end, MtcFault *fault) {
  for (int64_t i = begin; i < end; ++i)
    if (float value = floats(operands[0])[i]; value > 1000)
      *fault = {1, static_cast<int64_t>(value), 1000};
}

const MtcCpuStage stages[] = {{errorKernel, batch, 1},     {lossKernel, 1, 1},
                              {biasGradientKernel, 1, 1},  {seenKernel, 1, 1},
                              {updateKernel, features, 1}, {updateKernel, 1, 1},
                              {faultKernel, batch, 1}};
const MtcCpuKernel code[] = {{1, &stages[0]}, {1, &stages[1]}, {1, &stages[2]}, {1, &stages[3]},
                             {1, &stages[4]}, {1, &stages[5]}, {1, &stages[6]}};

const MtcKernel kernels[] = {{"error", &code[0], 0, 4 * batch, 24 * batch, 0},
                             {"loss", &code[1], 0, batch, 4 * batch, 0},
                             {"bias_gradient", &code[2], 0, batch, 4 * batch, 0},
                             {"seen", &code[3], 0, 2 * batch, 4 * batch, 0},
                             {"update_weight", &code[4], 0, 4 * features, 12 * features, 0},
                             {"update_bias", &code[5], 0, 4, 12, 0},
                             {"check", &code[6], 0, 0, 4 * batch, 1}};

const MtcContraction contractions[] = {
    // y[m, 0] = sum over k of x[m, k] weight[0, k]
    {MTC_F32,
     MTC_F32,
     MTC_F32,
     {MTC_F32, MTC_F32},
     MTC_F32,
     0,
     0,
     {},
     batch,
     1,
     features,
     {features, 1},
     {1, features},
     {1, 1},
     0,
     0,
     {},
     0,
     0,
     0,
     0,
     0,
     0},
    // weight gradient[0, n] = sum over k of error[k, 0] x[k, n]
    {MTC_F32,
     MTC_F32,
     MTC_F32,
     {MTC_F32, MTC_F32},
     MTC_F32,
     0,
     0,
     {},
     1,
     features,
     batch,
     {1, 1},
     {features, 1},
     {features, 1},
     0,
     0,
     {},
     0,
     0,
     0,
     0,
     0,
     0}};
const MtcCall calls[] = {{MTC_CONTRACTION, &contractions[0], 4 << 20, 2 * batch * features,
                          4 * (batch * features + features + batch), nullptr},
                         {MTC_CONTRACTION, &contractions[1], 4 << 20, 2 * batch * features,
                          4 * (batch + batch * features + features), nullptr}};

const int64_t forwardOperands[] = {xAt, weightAt, yAt, scratchAt};
const int64_t checkOperands[] = {targetAt};
const int64_t errorOperands[] = {yAt, biasAt, targetAt, errorAt, rowLossAt, rowWeightAt};
const MtcRowValue rowValues[] = {{"loss", MTC_ROW_SUM, rowLossAt, 1},
                                 {"weight", MTC_ROW_SUM, rowWeightAt, 1}};
const int64_t lossOperands[] = {rowLossAt, lossAt};
const int64_t weightGradientOperands[] = {errorAt, xAt, weightGradAt, scratchAt};
const int64_t biasGradientOperands[] = {errorAt, biasGradAt};
const int64_t seenOperands[] = {yAt, seenAt};
const int64_t updateWeightOperands[] = {weightAt, weightGradAt, weightMomentumAt, rateAt, decayAt};
const int64_t updateBiasOperands[] = {biasAt, biasGradAt, biasMomentumAt, rateAt, decayAt};

constexpr MtcOperation operation(MtcOperationKind kind, uint32_t index, uint32_t operandCount,
                                 const int64_t *operands, const char *nodes) {
  MtcOperation result = {};
  result.kind = kind;
  result.index = index;
  result.operand_count = operandCount;
  result.operands = operands;
  result.nodes = nodes;
  return result;
}

const MtcOperation microStep[] = {
    operation(MTC_CALL, 0, 4, forwardOperands, "/fc/Gemm"),
    operation(MTC_LAUNCH, 6, 1, checkOperands, "/check/Gather"),
    operation(MTC_LAUNCH, 0, 6, errorOperands, "/fc/Gemm, loss"),
    operation(MTC_LAUNCH, 1, 2, lossOperands, "loss"),
    operation(MTC_CALL, 1, 4, weightGradientOperands, "backward /fc/Gemm"),
    operation(MTC_LAUNCH, 2, 2, biasGradientOperands, "backward /fc/Gemm"),
    operation(MTC_LAUNCH, 3, 2, seenOperands, "statistics")};
const MtcOperation update[] = {
    operation(MTC_LAUNCH, 4, 5, updateWeightOperands, "update fc.weight"),
    operation(MTC_LAUNCH, 5, 5, updateBiasOperands, "update fc.bias")};
const MtcFunction functions[] = {{7, microStep}, {2, update}, {4, microStep}, {4, microStep}};
const uint32_t functionNumbers[] = {0, 1, 2, 3};

const int64_t xDims[] = {batch, features}, targetDims[] = {batch, 1}, weightDims[] = {1, features},
              biasDims[] = {1};
const float decay = 0.9f;

constexpr MtcTensor f32(const char *name, uint32_t rank, const int64_t *dims, int64_t count,
                        int64_t offset) {
  return {name, MTC_F32, rank, dims, offset, count * 4, MTC_DEVICE};
}

/// Returns a variable of the module, or one that belongs to the variable `of`.
constexpr MtcVariable variable(const MtcTensor &tensor, MtcRole role, MtcInitial initial,
                               int32_t of = -1, const void *data = nullptr, double spread = 0) {
  MtcVariable described = {};
  described.tensor = tensor;
  described.role = role;
  described.initial = initial;
  described.data = data;
  described.spread = spread;
  described.of = of;
  described.is_in_module = of == -1;
  return described;
}

const MtcVariable variables[] = {
    variable(f32("fc.weight", 2, weightDims, features, weightAt), MTC_PARAMETER, MTC_INITIAL_NORMAL,
             -1, nullptr, 0.5),
    variable(f32("fc.bias", 1, biasDims, 1, biasAt), MTC_PARAMETER, MTC_INITIAL_ZERO),
    variable(f32("decay", 0, nullptr, 1, decayAt), MTC_CONSTANT, MTC_INITIAL_DATA, -1, &decay),
    variable(f32("seen", 0, nullptr, 1, seenAt), MTC_STATE, MTC_INITIAL_ZERO),
    variable(f32("fc.weight.grad", 2, weightDims, features, weightGradAt), MTC_GRADIENT,
             MTC_INITIAL_ZERO, 0),
    variable(f32("fc.bias.grad", 1, biasDims, 1, biasGradAt), MTC_GRADIENT, MTC_INITIAL_ZERO, 1),
    variable(f32("fc.weight.momentum", 2, weightDims, features, weightMomentumAt), MTC_OPTIMIZER,
             MTC_INITIAL_ZERO, 0),
    variable(f32("fc.bias.momentum", 1, biasDims, 1, biasMomentumAt), MTC_OPTIMIZER,
             MTC_INITIAL_ZERO, 1),
};

const MtcInput inputs[] = {
    {f32("x", 2, xDims, batch *features, xAt), 0, 0, 0, 0, -1, 0, 0, 0, ""},
    {f32("target", 2, targetDims, batch, targetAt), 1, 0, 0, 0, -1, 0, 0, 0, ""}};
const MtcTensor outputs[] = {f32("y", 2, targetDims, batch, yAt),
                             f32("total", 0, nullptr, 1, lossAt)};
const MtcExportSegment segments[] = {{"\x72\x11\x0a\x0a" MTC_WRITER_KEY "\x12\x03" MTC_WRITER, 19,
                                      -1, MTC_F32, nullptr, MTC_EVERY_FORM, 0},
                                     {"TRAINING", 8, -1, MTC_F32, nullptr, MTC_ORIGINAL_FORM, 0},
                                     {"INFERENCE", 9, -1, MTC_F32, nullptr, MTC_INFERENCE_FORM, 0},
                                     {"HEAD", 4, 0, MTC_F32, nullptr, MTC_EVERY_FORM, 0},
                                     {"BODY", 4, 1, MTC_F32, nullptr, MTC_EVERY_FORM, 0},
                                     {"TAIL", 4, -1, MTC_F32, nullptr, MTC_EVERY_FORM, 0}};

} // namespace

extern const MtcProgram mtc_program = {.abi_version = MTC_ABI_VERSION,
                                       .compiler_version = "0.0-test",
                                       .target = "cpu",
                                       .target_data = nullptr,
                                       .model_name = "regression",
                                       .weights_file = "",
                                       .weights_digest = "",
                                       .initial_weights = "",
                                       .model_files = "",
                                       .fingerprint = "5ab1e",
                                       .loss = "mse",
                                       .optimizer = "momentum",
                                       .ranks = 1,
                                       .sharing_ranks = 1,
                                       .stages = 1,
                                       .stage = 0,
                                       .batch = batch,
                                       .arena_bytes = arenaBytes,
                                       .pinned_host_arena_bytes = 0,
                                       .host_arena_bytes = 0,
                                       .disk_arena_bytes = 0,
                                       .redzone = 0,
                                       .staging = stagedAt,
                                       .threads = 4,
                                       .plan_json = R"({"peak_bytes": 4195584})",
                                       .variable_count = 8,
                                       .input_count = 2,
                                       .output_count = 2,
                                       .kernel_count = 7,
                                       .call_count = 2,
                                       .segment_count = 6,
                                       .adapter_count = 0,
                                       .buffer_count = 0,
                                       .collective_count = 0,
                                       .function_count = 4,
                                       .message_count = 0,
                                       .variables = variables,
                                       .inputs = inputs,
                                       .outputs = outputs,
                                       .kernels = kernels,
                                       .calls = calls,
                                       .segments = segments,
                                       .adapters = nullptr,
                                       .buffers = nullptr,
                                       .collectives = nullptr,
                                       .functions = functions,
                                       .messages = nullptr,
                                       .micro_step = {1, &functionNumbers[0]},
                                       .update = {1, &functionNumbers[1]},
                                       .evaluate = {1, &functionNumbers[2]},
                                       .gradients = {0, nullptr},
                                       .compute_outputs = {1, &functionNumbers[3]},
                                       .micro_steps = {0, nullptr},
                                       .evaluate_tasks = {0, nullptr},
                                       .outputs_tasks = {0, nullptr},
                                       .results_stage = 0,
                                       .separate_arena_bytes = arenaBytes,
                                       .outputs_arena_bytes = arenaBytes,
                                       .gradients_loss = lossAt,
                                       .micro_step_loss = lossAt,
                                       .evaluate_loss = lossAt,
                                       .gradient_norm = -1,
                                       .accumulation = {1, -1, -1, -1, -1, 0},
                                       .loss_scaling = {-1, -1, -1, 0},
                                       .loss_type = MTC_F32,
                                       .row_metrics = {batch, 2, rowValues},
                                       .scalars = {rateAt, stepAt, -1, seedAt},
                                       .schedule = {"constant", 0.01, 0, 0, 0, 0, nullptr, nullptr},
                                       .following_stage_count = 0,
                                       .following_stages = nullptr,
                                       .shape_count = 0,
                                       .shapes = nullptr,
                                       .setting_count = 0,
                                       .settings = nullptr,
                                       .absent_setting_count = 0,
                                       .absent_settings = nullptr};
