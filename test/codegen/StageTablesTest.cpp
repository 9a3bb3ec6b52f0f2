// Tests the tables of a program with pipeline stages.
#include "codegen/program/StageTables.h"
#include "codegen/Codegen.h"
#include "codegen/Jit.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <array>
#include <string>
#include <vector>

using namespace mtc;
using testing::ElementsAre;

namespace {

/// Two stages of two ranks. Each micro-step of the first one uses one of two copies of the slots.
/// Both have a constant, a kernel of their own, and a common kernel. Before the cut, the parameter
/// of the second one came first.
constexpr char text[] = R"mlir(
#id = affine_map<(d0) -> (d0)>
module attributes {mtc.variables = ["mtc.constant", "w1", "w0", "sum"]} {
module @stage0 {
  mtc.program "m" stage allocated batch 4 ranks <count = 4, pipeline = 2> pipeline_stage 0 {
  }
  mtc.arena size 1024 live 1024
  mtc.variable parameter @w0 : tensor<4xf32> = #mtc.zeros at 0
  mtc.variable constant @mtc.constant : tensor<2xf32> = dense<[1.0, 2.0]> : tensor<2xf32> at 64
  mtc.variable optimizer @sum : tensor<f64> = #mtc.zeros at 128
  mtc.variable optimizer @w0.moment : tensor<4xf32> = #mtc.zeros of @w0 at 192
  mtc.variable average @w0.ema : tensor<4xf32> = #mtc.zeros of @w0 at 576
  mtc.variable slot @out copies 2 : tensor<4xf32> = #mtc.zeros at 256
  mtc.variable slot @out.grad copies 2 : tensor<4xf32> = #mtc.zeros at 384
  mtc.message sent channel 0 [@out] stage 1
  mtc.message backward channel 1 [@out.grad] stage 1
  mtc.tasks "micro_step" [#mtc.task<load, micro = 0>, #mtc.task<run, function = @micro_step>, #mtc.task<start, message = 0>,
    #mtc.task<load, micro = 1>, #mtc.task<run, function = @micro_step, micro = 1>,
    #mtc.task<start, message = 1>, #mtc.task<wait, message = 1>,
    #mtc.task<run, function = @micro_step.backward>, #mtc.task<start, micro = 3>]
  mtc.kernel_function @kernel_0 [4] -> [tensor<4xf32>] {
  ^body(%a: tensor<4xf32>):
    %x = mtc.kernel.load %a at #id : tensor<4xf32> -> f32
    %y = arith.addf %x, %x : f32
    mtc.kernel.yield %y at [#id] : f32
  }
  mtc.kernel_function @kernel_1 [4] -> [tensor<4xf32>] {
  ^body(%a: tensor<4xf32>):
    %x = mtc.kernel.load %a at #id : tensor<4xf32> -> f32
    %y = arith.mulf %x, %x : f32
    mtc.kernel.yield %y at [#id] : f32
  }
  mtc.step @micro_step reads ["x"] [#mtc.at<512, tensor<4xf32>>] gives [] [] {
    mtc.launch @kernel_1 [#mtc.at<512, tensor<4xf32>>] into [#mtc.at<256, tensor<4xf32>>]
  }
  mtc.step @micro_step.backward reads [] [] gives [] [] {
    mtc.launch @kernel_0 [#mtc.at<384, tensor<4xf32>>] into [#mtc.at<0, tensor<4xf32>>]
  }
}
module @stage1 {
  mtc.program "m" stage allocated batch 4 ranks <count = 4, pipeline = 2> pipeline_stage 1 {
  }
  mtc.arena size 2048 live 2048
  mtc.variable parameter @w1 : tensor<4xf32> = #mtc.zeros at 0
  mtc.variable constant @mtc.constant : tensor<2xf32> = dense<[3.0, 4.0]> : tensor<2xf32> at 64
  mtc.variable optimizer @sum : tensor<f64> = #mtc.zeros at 256
  mtc.variable optimizer @w1.moment : tensor<4xf32> = #mtc.zeros of @w1 at 320
  mtc.variable average @w1.ema : tensor<4xf32> = #mtc.zeros of @w1 at 384
  mtc.variable slot @in copies 2 : tensor<4xf32> = #mtc.zeros at 512
  mtc.variable slot @in.grad copies 2 : tensor<4xf32> = #mtc.zeros at 640
  mtc.message channel 0 [@in] stage 0
  mtc.message sent backward channel 1 [@in.grad] stage 0
  mtc.tasks "micro_step" [#mtc.task<start, micro = 1>, #mtc.task<wait, micro = 1>,
    #mtc.task<run, function = @micro_step, micro = 1>]
  mtc.kernel_function @kernel_0 [4] -> [tensor<4xf32>] {
  ^body(%a: tensor<4xf32>):
    %x = mtc.kernel.load %a at #id : tensor<4xf32> -> f32
    %y = arith.mulf %x, %x : f32
    mtc.kernel.yield %y at [#id] : f32
  }
  mtc.step @micro_step reads ["labels"] [#mtc.at<1024, tensor<4xi64>>]
      gives ["mtc.loss"] [#mtc.at<1088, tensor<f32>>] {
    mtc.launch @kernel_0 [#mtc.at<512, tensor<4xf32>>] into [#mtc.at<640, tensor<4xf32>>]
  }
}
}
)mlir";

class StageTables : public testing::Test {
protected:
  StageTables() {
    mlir::DialectRegistry registry;
    registerCodegenDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    auto parsed = Target::parse(context, TargetFlags());
    EXPECT_TRUE(bool(parsed));
    auto created = Target::create(*parsed);
    EXPECT_TRUE(bool(created));
    target = std::move(*created);
    auto compiled = JitProgram::create(*module, *target);
    EXPECT_TRUE(succeeded(compiled));
    jit = std::move(*compiled);
    stages = {&jit->program(), jit->program().following_stages};
  }

  /// Returns the offsets of the operands of a function's only operation.
  static std::vector<int64_t> operandsOf(const MtcProgram &stage, uint32_t function) {
    const MtcOperation &op = stage.functions[function].operations[0];
    return {op.operands, op.operands + op.operand_count};
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<Target> target;
  std::unique_ptr<JitProgram> jit;
  std::vector<const MtcProgram *> stages;
};

TEST_F(StageTables, StagesFollowTheFirst) {
  ASSERT_EQ(stages[0]->following_stage_count, 1U);
  EXPECT_EQ(stages[1]->following_stage_count, 0U);
  EXPECT_EQ(stages[0]->arena_bytes, 1024);
  EXPECT_EQ(stages[1]->arena_bytes, 2048);
  for (int64_t number = 0; number < 2; ++number) {
    EXPECT_EQ(stages[number]->stages, 2);
    EXPECT_EQ(stages[number]->stage, number);
    EXPECT_EQ(stages[number]->results_stage, 1);
  }
  EXPECT_STREQ(stages[0]->fingerprint, stages[1]->fingerprint);
  EXPECT_EQ(stages[0]->micro_step_loss, -1);
  EXPECT_EQ(stages[1]->micro_step_loss, 1088);
  EXPECT_EQ(stages[0]->loss_type, stages[1]->loss_type);
}

TEST_F(StageTables, FunctionsUseTheCopiesOfSlots) {
  ASSERT_EQ(stages[0]->function_count, 4U);
  EXPECT_THAT(operandsOf(*stages[0], 0), ElementsAre(512, 256));
  EXPECT_THAT(operandsOf(*stages[0], 1), ElementsAre(512, 320));
  EXPECT_THAT(operandsOf(*stages[0], 2), ElementsAre(384, 0));
  EXPECT_THAT(operandsOf(*stages[0], 3), ElementsAre(448, 0));
  EXPECT_THAT(operandsOf(*stages[1], 1), ElementsAre(576, 704));
}

TEST_F(StageTables, MessagesHaveAnEntryForEachSlot) {
  ASSERT_EQ(stages[0]->message_count, 4U);
  const MtcMessage *messages = stages[0]->messages;
  EXPECT_EQ(messages[1].distance, 2); // The same rank of the next stage.
  EXPECT_TRUE(messages[1].is_sent);
  EXPECT_EQ(messages[1].channel, 0U);
  ASSERT_EQ(messages[1].range_count, 1U);
  EXPECT_EQ(messages[0].offsets[0], 256);
  EXPECT_EQ(messages[1].offsets[0], 320);
  EXPECT_EQ(messages[1].bytes[0], 16);
  EXPECT_EQ(messages[3].channel, 1U);
  EXPECT_FALSE(messages[3].is_sent);
  EXPECT_EQ(messages[3].offsets[0], 448);
  EXPECT_EQ(stages[1]->messages[0].distance, -2);
}

TEST_F(StageTables, TasksUseTheSlotsOfTheirMicroSteps) {
  using Task = std::array<int64_t, 3>; // Kind, index and micro-step.
  auto describe = [](const MtcTaskList &list) {
    std::vector<Task> tasks;
    for (const MtcTask &task : llvm::ArrayRef(list.tasks, list.count))
      tasks.push_back({task.kind, task.index, task.micro_step});
    return tasks;
  };
  EXPECT_THAT(
      describe(stages[0]->micro_steps),
      ElementsAre(Task{MTC_LOAD_TASK, 0, 0}, Task{MTC_RUN_TASK, 0, 0}, Task{MTC_START_TASK, 0, 0},
                  Task{MTC_LOAD_TASK, 0, 1}, Task{MTC_RUN_TASK, 1, 1}, Task{MTC_START_TASK, 2, 0},
                  Task{MTC_WAIT_TASK, 2, 0}, Task{MTC_RUN_TASK, 2, 0}, Task{MTC_START_TASK, 1, 3}));
  EXPECT_THAT(
      describe(stages[1]->micro_steps),
      ElementsAre(Task{MTC_START_TASK, 1, 1}, Task{MTC_WAIT_TASK, 1, 1}, Task{MTC_RUN_TASK, 1, 1}));
  EXPECT_EQ(stages[0]->evaluate_tasks.count, 0U);
}

TEST_F(StageTables, StagesListTheSameVariables) {
  const std::vector<std::string> names{"w1",
                                       "w0",
                                       "mtc.constant.stage0",
                                       "mtc.constant.stage1",
                                       "sum",
                                       "w1.moment",
                                       "w1.ema",
                                       "w0.moment",
                                       "w0.ema"};
  const std::vector<int32_t> owners{1, 0, 0, 1, -1, 1, 1, 0, 0};
  const std::vector<int64_t> offsets[] = {{-1, 0, 64, -1, 128, -1, -1, 192, 576},
                                          {0, -1, -1, 64, 256, 320, 384, -1, -1}};
  for (int number = 0; number < 2; ++number) {
    ASSERT_EQ(stages[number]->variable_count, names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      const MtcVariable &variable = stages[number]->variables[i];
      EXPECT_EQ(variable.tensor.name, names[i]);
      EXPECT_EQ(variable.stage, owners[i]) << names[i];
      EXPECT_EQ(variable.tensor.offset, offsets[number][i]) << names[i];
    }
  }
  EXPECT_EQ(stages[0]->variables[5].of, 0);
  EXPECT_EQ(stages[0]->variables[7].of, 1);
  const auto *elements = static_cast<const float *>(stages[1]->variables[3].data);
  EXPECT_EQ(elements[1], 4);
  EXPECT_EQ(stages[0]->variables[3].data, nullptr); // Only the other stage needs the elements.
}

TEST_F(StageTables, StagesListTheSameInputs) {
  for (const MtcProgram *stage : stages) {
    ASSERT_EQ(stage->input_count, 2U);
    EXPECT_STREQ(stage->inputs[0].tensor.name, "x");
    EXPECT_STREQ(stage->inputs[1].tensor.name, "labels");
  }
  EXPECT_EQ(stages[0]->inputs[0].tensor.offset, 512);
  EXPECT_EQ(stages[0]->inputs[1].tensor.offset, -1);
  EXPECT_EQ(stages[1]->inputs[0].tensor.offset, -1);
  EXPECT_EQ(stages[1]->inputs[1].tensor.offset, 1024);
}

TEST_F(StageTables, StagesShareEqualKernels) {
  ASSERT_EQ(stages[0]->kernel_count, 2U);
  ASSERT_EQ(stages[1]->kernel_count, 1U);
  EXPECT_STREQ(stages[0]->kernels[0].name, "kernel_0");
  EXPECT_STREQ(stages[0]->kernels[1].name, "kernel_1");
  EXPECT_STREQ(stages[1]->kernels[0].name, "kernel_1");
  EXPECT_EQ(stagesOf(stages[0]->kernels[1])[0].function,
            stagesOf(stages[1]->kernels[0])[0].function);
  EXPECT_NE(stagesOf(stages[0]->kernels[0])[0].function,
            stagesOf(stages[1]->kernels[0])[0].function);
}

} // namespace
