//===- ProgramInfo.h - What a program's tables say beyond its operations ----------------------===//

#ifndef MTC_CODEGEN_PROGRAM_PROGRAMINFO_H
#define MTC_CODEGEN_PROGRAM_PROGRAMINFO_H

#include <cstdint>
#include <string>
#include <vector>

namespace mtc {

/// An input of the steps, by its name in `input_names`; see MtcInput. An input that has no
/// InputInfo is plain data.
struct InputInfo {
  std::string name;
  bool isLabel = false;
  /// Its first axis does not count rows of the data: it is given whole.
  bool isWhole = false;
  /// The input of token ids from which these labels are made if they are left out; "" if they must
  /// be given.
  std::string shiftedFrom;
  /// minimum <= value < limit, or value == ignored; no rule where minimum == limit.
  int64_t minimum = 0, limit = 0, ignored = 0;
  /// The node that uses the values as indices.
  std::string reader;
};

/// A piece of the exported model: bytes, then (unless "") a variable's.
struct ExportSegment {
  std::string bytes, variable;
};

/// The facts of a program that its IR does not hold. Names refer to `input_names` and
/// `output_names` of the steps, and to variables.
struct ProgramInfo {
  std::string compilerVersion, modelName, weightsFile, weightsDigest, loss, optimizer, planJson;
  /// Hex digest of what a checkpoint depends on; computed from the variables, the batch and the
  /// optimizer if empty.
  std::string fingerprint;
  int64_t batch = 1; ///< rows that a step takes of inputs that are not whole
  int64_t threads = 1;

  std::string microStep = "micro_step", update = "update", gradients = "gradients",
              evaluate = "evaluate";
  std::vector<InputInfo> inputs;

  /// Outputs of the steps. Those of `evaluate` that are none of these are the graph's outputs, in
  /// order.
  std::string microStepLoss = "loss", evaluateLoss = "loss";
  std::string rowLoss = "row_loss", rowWeight = "row_weight", rowCorrect = "row_correct";

  /// Variables of role `scalar`.
  std::string learningRateScalar = "learning_rate", stepScalar = "step",
              microStepScalar = "micro_step", seedScalar = "seed";

  enum class Schedule { Constant, Linear, Cosine };
  double learningRate = 1e-3;
  Schedule schedule = Schedule::Constant;
  int64_t warmup = 0;

  std::vector<ExportSegment> exportSegments;
};

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_PROGRAMINFO_H
