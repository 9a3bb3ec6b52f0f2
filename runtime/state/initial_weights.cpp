#include "runtime/state/initial_weights.h"

#include "runtime/io/durable_file.h"
#include "runtime/state/frozen_matrix.h"
#include "runtime/state/settings.h"
#include "runtime/state/stored_variable.h"
#include "runtime/state/transfer_progress.h"
#include "runtime/state/value_reader.h"
#include "runtime/state/variables.h"
#include "runtime/state/weights_check.h"
#include "runtime/support/failure.h"
#include "runtime/support/messages.h"

#include <algorithm>
#include <unistd.h>

namespace mtc::runtime {

std::string initialWeightsPath(const MtcProgram &program, const std::string &given,
                               const std::string &programFolder) {
  const std::string own = program.initial_weights;
  if (!given.empty() || own.empty() || own.front() == '/')
    return given.empty() ? own : given;
  return programFolder + "/" + own;
}

/// Opens the weights file of the program. Verifies that it belongs to this compilation, because
/// another compilation may have overwritten it.
static NamedWeights openOwn(const MtcProgram &program, const std::string &folder) {
  const std::string path = folder + "/" + program.weights_file;
  auto open = [&] {
    try {
      return NamedWeights(program, path);
    } catch (const Failure &failure) {
      throw Failure(failure.exitCode(),
                    text(failure.what(), "\nThe initial weights are expected beside the program; "
                                         "--weights FILE names another file."));
    }
  };
  NamedWeights weights = open();
  if (std::string found = weights.file().metadata(MTC_WEIGHTS_DIGEST);
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

/// Reports how tensors of the user's file were matched, and those that are not used.
static void reportMatches(const NamedWeights &chosen, bool isQuiet) {
  const std::string &path = chosen.file().path();
  if (!isQuiet)
    for (const std::string &match : chosen.describeMatches())
      note(path, ": ", match);
  if (const std::vector<std::string> unused = unusedTensors(chosen); !unused.empty())
    warn(path, ": ignored, since the program does not have them: ", listed(unused));
}

bool InitialWeights::needsChosen() const {
  return std::any_of(variables.begin(), variables.end(), [&](uint32_t i) {
    const MtcVariable &variable = program.variables[i];
    return variable.initial == MTC_INITIAL_FILE && variable.role != MTC_CONSTANT;
  });
}

/// Opens the weights of --weights, or those that the program was compiled with. Without the latter,
/// a run can still resume from a checkpoint that has all of them.
void InitialWeights::openChosen() {
  if (!choice.file.empty()) {
    chosen.emplace(program, choice.file);
    return;
  }
  const std::string path = initialWeightsPath(program, "", choice.programFolder);
  if (path.empty())
    return;
  try {
    chosen.emplace(program, path);
  } catch (const Failure &failure) {
    if (needsChosen() && access(path.c_str(), F_OK) == 0)
      throw;
    if (needsChosen())
      throw Failure(failure.exitCode(),
                    text(failure.what(), "\nThe program was compiled to start from the weights in ",
                         path, "; if they were moved, name them with --weights."));
  }
}

InitialWeights::InitialWeights(const MtcProgram &program, const WeightsChoice &choice,
                               bool keepTrained)
    : program(program), choice(choice) {
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (!keepTrained || !isSaved(program.variables[i]))
      variables.push_back(i);
  openChosen();
  const InitialValues values(program, chosenWeights(), nullptr, choice.seed, 1);
  if (*program.weights_file &&
      std::any_of(variables.begin(), variables.end(),
                  [&](uint32_t variable) { return values.needsOwn(variable); }))
    own.emplace(openOwn(program, choice.programFolder));
  initial.emplace(program, chosenWeights(), own ? &*own : nullptr, choice.seed, choice.threads);
  if (!chosen)
    requireOwn();
  check(!choice.file.empty());
}

/// Throws if the model had no data for a variable when the program was compiled.
void InitialWeights::requireOwn() const {
  std::vector<std::string> absent;
  for (const uint32_t i : variables)
    if (program.variables[i].initial == MTC_INITIAL_FILE && (!own || own->of(i).empty()))
      absent.push_back(program.variables[i].tensor.name);
  if (!absent.empty())
    userError("the program was compiled without the data of ", absent.size(), " tensors (",
              listed(absent), "); start it with --weights FILE|DIR");
}

/// Throws all problems of the files; reports matches otherwise. `isNamed`: the user named the file.
void InitialWeights::check(bool isNamed) const {
  Problems problems;
  bool usesFile = false;
  for (const uint32_t i : variables) {
    usesFile |= chosen && !chosen->of(i).empty();
    initial->check(i, problems);
  }
  if (chosen && problems.any() && !initial->unknownNames().empty())
    problems.add(chosen->file().path(), ": the program does not have its tensors ",
                 listed(initial->unknownNames()));
  if (isNamed && !usesFile && !problems.any())
    problems.add(chosen->file().path(), ": holds none of the program's parameters");
  problems.throwIfAny();
  if (chosen && usesFile)
    reportMatches(*chosen, choice.isQuiet);
}

const NamedWeights *InitialWeights::exportedNames() const {
  Problems problems;
  for (uint32_t i = 0; chosen && variables.size() < program.variable_count &&
                       i < program.variable_count && !problems.any();
       ++i)
    initial->check(i, problems);
  return problems.any() ? nullptr : chosenWeights();
}

void InitialWeights::initialize(Device &device) const {
  writeSettings(program, device, {});
  const int rank = device.ranks() ? device.ranks()->rank() : 0;
  auto isHeld = [&](uint32_t variable) { return StoredVariable(program, variable).isHeldBy(rank); };
  int64_t total = 0;
  for (const uint32_t i : variables)
    if (isHeld(i) && !initial->find(i).empty())
      total += StoredVariable(program, i).bytes();
  TransferProgress progress("reading weights", total, choice.isQuiet);
  for (const uint32_t i : variables) {
    const MtcVariable &variable = program.variables[i];
    if (!isHeld(i) || !initial->fills(i))
      continue;
    const StoredVariable stored(program, i);
    const bool isCounted = !initial->find(i).empty();
    std::optional<FrozenMatrix> matrix;
    ValueReader reader(*initial, i, variable.source ? uint32_t{MTC_F32} : stored.type(),
                       variable.is_transposed ? ElementOrder::ColumnMajor : ElementOrder::RowMajor);
    if (variable.source)
      matrix.emplace(
          variable,
          [&](float *to, int64_t first, int64_t count) {
            reader.read(reinterpret_cast<char *>(to), first * 4, count * 4);
          },
          choice.threads);
    stored.write(device, [&](char *to, int64_t at, int64_t bytes) {
      const int64_t step = reader.isInOrder() ? int64_t{8} << 20 : bytes;
      for (int64_t begin = 0; begin < bytes; begin += step) {
        const int64_t count = std::min(step, bytes - begin);
        matrix ? matrix->write(to + begin, at + begin, count)
               : reader.read(to + begin, at + begin, count);
        if (isCounted)
          progress.add(count);
      }
    });
  }
  for (const uint32_t i : variables) {
    const MtcVariable &variable = program.variables[i];
    if (variable.role == MTC_AVERAGE && variable.initial == MTC_INITIAL_PARAMETER)
      StoredVariable(program, static_cast<uint32_t>(variable.of)).copyTo(device, variable);
  }
}

} // namespace mtc::runtime
