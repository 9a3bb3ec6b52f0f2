// Writes initial values to the arena.
#include "runtime/state/variables.h"

#include "runtime/io/durable_file.h"
#include "runtime/state/frozen_matrix.h"
#include "runtime/state/initial_values.h"
#include "runtime/state/module_tensors.h"
#include "runtime/state/settings.h"
#include "runtime/state/stored_variable.h"
#include "runtime/support/failure.h"
#include "runtime/support/messages.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace mtc::runtime {

bool isSaved(const MtcVariable &variable) {
  return variable.role == MTC_PARAMETER || variable.role == MTC_STATE ||
         variable.role == MTC_OPTIMIZER || variable.role == MTC_AVERAGE;
}

bool isSumOfStep(const MtcProgram &program, const MtcVariable &variable) {
  const MtcAccumulation &sums = program.accumulation;
  return sums.micro_steps > 1 && variable.role == MTC_OPTIMIZER && variable.tensor.rank == 0 &&
         (variable.tensor.offset == sums.loss_sum || variable.tensor.offset == sums.count);
}

/// Opens the weights file of the program. Verifies that it belongs to this compilation, because
/// another compilation may have overwritten it.
static std::unique_ptr<NamedWeights> openOwnWeights(const MtcProgram &program,
                                                    const std::string &folder) {
  const std::string path = folder + "/" + program.weights_file;
  std::unique_ptr<NamedWeights> weights;
  try {
    weights = std::make_unique<NamedWeights>(program, path);
  } catch (const Failure &failure) {
    throw Failure(failure.exitCode(),
                  text(failure.what(), "\nThe initial weights are expected beside the program; "
                                       "--weights FILE names another file."));
  }
  if (std::string found = weights->file().metadata(MTC_WEIGHTS_DIGEST);
      found != program.weights_digest)
    userError(path, ": these are not the weights that the program was compiled with (digest ",
              found.empty() ? "none" : found, ", expected ", program.weights_digest,
              "); compile the model again, or start from them all the same with --weights ", path);
  return weights;
}

/// Returns "'a', 'b' and 3 more".
static std::string listed(const std::vector<std::string> &names) {
  constexpr size_t shown = 5;
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), shown); ++i)
    list += text(i ? ", '" : "'", names[i], "'");
  return names.size() > shown ? text(list, " and ", names.size() - shown, " more") : list;
}

namespace {

/// The weights files of a run.
struct WeightsFiles {
  /// Opens the files that the values of `variables` require.
  WeightsFiles(const MtcProgram &program, const WeightsChoice &choice,
               const std::vector<uint32_t> &variables) {
    if (!choice.file.empty())
      chosen = std::make_unique<NamedWeights>(program, choice.file);
    const InitialValues values(program, chosen.get(), nullptr, 1);
    const bool needsOwn = std::any_of(variables.begin(), variables.end(),
                                      [&](uint32_t variable) { return values.needsOwn(variable); });
    if (needsOwn && *program.weights_file)
      own = openOwnWeights(program, choice.programFolder);
    if (!chosen)
      requireOwn(program, variables);
  }

  std::unique_ptr<NamedWeights> chosen, own;

private:
  /// Throws if the model had no data for a variable when the program was compiled.
  void requireOwn(const MtcProgram &program, const std::vector<uint32_t> &variables) const {
    std::vector<std::string> absent;
    for (const uint32_t i : variables)
      if (program.variables[i].initial == MTC_INITIAL_FILE && (!own || own->of(i).empty()))
        absent.push_back(program.variables[i].tensor.name);
    if (!absent.empty())
      userError("the program was compiled without the data of ", absent.size(), " tensors (",
                listed(absent), "); start it with --weights FILE|DIR");
  }
};

} // namespace

/// Reports tensors of the user's file that were matched by a prefix, and those that were not used.
static void reportMatches(const NamedWeights &chosen, std::vector<std::string> unknown,
                          bool isQuiet) {
  const std::string &path = chosen.file().path();
  if (chosen.prefix() && !isQuiet)
    note(path, ": ", chosen.prefixed(), " of the program's tensors have names ",
         chosen.prefix()->isInFile ? "with" : "without", " the prefix '", chosen.prefix()->text,
         "' there");
  // PyTorch's batch counter, which ONNX models do not use.
  std::erase_if(unknown,
                [](const std::string &name) { return name.ends_with("num_batches_tracked"); });
  // A checkpoint also contains the optimizer state.
  if (unknown.empty() || chosen.file().metadata(MTC_WEIGHTS_NAMES) == MTC_MODULE_NAMES)
    return;
  warn(path, ": ignored, since the program does not have them: ", listed(unknown));
}

void initializeVariables(const MtcProgram &program, Device &device, int threads,
                         const WeightsChoice &choice, bool keepTrained) {
  writeSettings(program, device, {});
  std::vector<uint32_t> variables;
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (!keepTrained || !isSaved(program.variables[i]))
      variables.push_back(i);
  const WeightsFiles files(program, choice, variables);
  const InitialValues values(program, files.chosen.get(), files.own.get(), threads);
  Problems problems;
  bool usesFile = false;
  for (const uint32_t i : variables) {
    usesFile |= files.chosen && !files.chosen->of(i).empty();
    values.check(i, problems);
  }
  if (files.chosen && problems.any() && !values.unknownNames().empty())
    problems.add(files.chosen->file().path(), ": the program does not have its tensors ",
                 listed(values.unknownNames()));
  if (files.chosen && !usesFile && !problems.any())
    problems.add(files.chosen->file().path(), ": holds none of the program's parameters");
  problems.throwIfAny();
  if (files.chosen)
    reportMatches(*files.chosen, values.unknownNames(), choice.isQuiet);
  for (const uint32_t i : variables) {
    const MtcVariable &variable = program.variables[i];
    if (!values.fills(i))
      continue;
    const StoredVariable kept(program, i);
    if (!variable.source && values.isStreamed(i)) {
      kept.write(device, [&](char *to, int64_t at, int64_t bytes) {
        values.fill(i, kept.type(), to, at, bytes);
      });
      continue;
    }
    const std::vector<char> value = values.value(i);
    const std::vector<char> stored =
        variable.source ? storeFrozen(variable, value, threads) : std::vector<char>();
    auto copy = [&](const std::vector<char> &from) {
      return [&](char *to, int64_t at, int64_t bytes) {
        std::memcpy(to, from.data() + at, static_cast<size_t>(bytes));
      };
    };
    kept.write(device, copy(variable.source ? stored : value));
  }
  for (const uint32_t i : variables) {
    const MtcVariable &variable = program.variables[i];
    if (variable.role == MTC_AVERAGE && variable.initial == MTC_INITIAL_PARAMETER)
      StoredVariable(program, static_cast<uint32_t>(variable.of)).copyTo(device, variable);
  }
}

std::vector<char> initialValue(const MtcProgram &program, uint32_t variable, int threads,
                               const WeightsChoice &choice) {
  const WeightsFiles files(program, choice, {variable});
  const InitialValues values(program, files.chosen.get(), files.own.get(), threads);
  Problems problems;
  values.check(variable, problems);
  problems.throwIfAny();
  return values.value(variable);
}

} // namespace mtc::runtime
