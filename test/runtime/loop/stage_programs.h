// The sample as programs with one and two pipeline stages.
#ifndef MTC_TEST_RUNTIME_LOOP_STAGEPROGRAMS_H
#define MTC_TEST_RUNTIME_LOOP_STAGEPROGRAMS_H

#include "runtime/abi/cpu.h"
#include "runtime/abi/program.h"

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace mtc::test {

/// The sample with 3 micro-steps per update of a rank: linear regression, y = x · weight + bias.
/// With two stages, stage 0 has the weight and sends x · weight, and stage 1 has the bias, computes
/// the loss and sends the gradient of its input. Two micro-steps are in progress at a time.
class StagePrograms {
public:
  static constexpr int64_t microSteps = 3, slots = 2;

  /// `stages` is 1 or 2. With one stage, the program has a micro-step, or, with `hasTasks`, tasks.
  /// Each stage has `data` ranks, which add their gradients in each update.
  StagePrograms(int64_t stages, bool hasTasks, int64_t data = 1);
  StagePrograms(const StagePrograms &) = delete;
  StagePrograms &operator=(const StagePrograms &) = delete;

  /// Returns the tables of the first stage.
  const MtcProgram &first() const { return tables.front(); }

private:
  void addStage(int64_t stage);
  void addFunctions(MtcProgram &program, int64_t stage);
  void addMessages(int64_t stage);
  MtcSequence addFunction(std::vector<MtcOperation> operations);
  MtcOperation launch(uint32_t kernel, std::vector<int64_t> operands, const char *nodes);
  MtcOperation moved(uint32_t operation, const std::vector<std::pair<int64_t, int64_t>> &moves);
  MtcOperation gather(int64_t ranks, int64_t stride, int64_t bytes, int64_t from, int64_t to);
  std::vector<MtcOperation> forward(int64_t slot);
  std::vector<MtcOperation> withLoss(int64_t slot);
  std::vector<MtcOperation> backward(int64_t slot);
  std::vector<MtcOperation> updateOf(int64_t stage);
  void addTasks(MtcProgram &program);

  int64_t stages, data;
  bool hasTasks;
  int64_t numbersOfRanks[2]; ///< of all ranks, and of those of a stage
  std::vector<MtcCpuStage> code;
  std::vector<MtcCpuKernel> kernelCode;
  std::vector<MtcKernel> kernels;
  std::deque<std::vector<int64_t>> lists;             ///< operands of operations
  std::deque<std::vector<MtcOperation>> operations;   ///< of functions
  std::deque<std::vector<MtcFunction>> functions;     ///< of stages
  std::deque<std::vector<MtcCollective>> collectives; ///< of stages
  std::deque<std::vector<MtcMessage>> messages;       ///< of stages
  std::deque<std::vector<MtcTask>> tasks;             ///< of lists
  std::deque<std::vector<MtcVariable>> variables;     ///< of stages
  std::deque<std::vector<MtcInput>> inputs;           ///< of stages
  std::deque<std::vector<MtcTensor>> outputs;         ///< of stages
  std::deque<std::vector<MtcRowValue>> rowValues;     ///< of stages
  std::deque<MtcSetting> settings;                    ///< of stages
  std::deque<uint32_t> numbers;                       ///< of functions in sequences
  std::vector<MtcProgram> tables;
};

} // namespace mtc::test

#endif // MTC_TEST_RUNTIME_LOOP_STAGEPROGRAMS_H
