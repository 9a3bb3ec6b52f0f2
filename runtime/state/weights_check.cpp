// The compiler calls `checkWeights`; programs call the other functions when they start.
#include "runtime/state/weights_check.h"

#include "runtime/state/module_tensors.h"
#include "runtime/state/named_weights.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/floats.h"
#include "support/terminal/suggestions.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {

std::string mismatch(const MtcTensor &expected, const ArrayOnDisk &found) {
  if (found.type == expected.type && found.dims == shapeOf(expected))
    return "";
  return text("is ", typeName(found.type), " ", shapeText(found.dims), "; the program expects ",
              typeName(expected.type), " ", shapeText(shapeOf(expected)));
}

/// Returns whether a value of one type is converted to another when it is read: exactly, or with
/// rounding if it is not trained.
static bool isConverted(uint32_t from, uint32_t to, uint32_t role) {
  return (mtc_is_narrow_float(from) && to == MTC_F32) ||
         ((from == MTC_F32 || mtc_is_narrow_float(from)) && mtc_is_narrow_float(to) &&
          role == MTC_CONSTANT);
}

/// Returns why a tensor of a file does not match a variable or its image; "" if it does.
static std::string problemOf(const MtcTensor &value, uint32_t role, const FoundTensor &found) {
  MtcTensor expected = value;
  if (isConverted(found.array->type, value.type, role))
    expected.type = found.array->type;
  std::string why = mismatch(expected, *found.array);
  if (found.image && !(isWhole(found.image) && why.empty()))
    why = mismatch(tensorOf(expected, *found.image), *found.array);
  return why;
}

bool checkTensors(const MtcProgram &program, const NamedWeights &weights, uint32_t variable,
                  const std::vector<FoundTensor> &found, Problems &problems) {
  const MtcTensor value = valueOf(program, variable);
  bool isValid = true;
  for (const FoundTensor &tensor : found)
    if (std::string why = problemOf(value, program.variables[variable].role, tensor);
        !why.empty()) {
      problems.add(weights.file().path(), ": tensor '", tensor.name, "' ", why);
      isValid = false;
    }
  return isValid;
}

bool checkVariable(const MtcProgram &program, const NamedWeights &weights, uint32_t variable,
                   Problems &problems) {
  bool isValid = checkTensors(program, weights, variable, weights.of(variable), problems);
  for (const std::vector<FoundTensor> &other : weights.repeated(variable))
    isValid &= checkTensors(program, weights, variable, other, problems);
  return isValid;
}

void addMissing(const NamedWeights &weights, uint32_t variable,
                const std::vector<std::string> &unknown, Problems &problems) {
  for (const auto &[name, tensor] : weights.missing(variable))
    problems.add(weights.file().path(), ": tensor '", name, "' is missing; the program expects ",
                 typeName(tensor.type), " ", shapeText(shapeOf(tensor)),
                 terminal::suggestNames(name, unknown));
}

std::vector<std::string> unusedTensors(const NamedWeights &weights) {
  if (weights.file().metadata(MTC_WEIGHTS_NAMES) == MTC_MODULE_NAMES)
    return {};
  std::vector<std::string> unused = weights.unknown();
  std::erase_if(unused,
                [](const std::string &name) { return name.ends_with("num_batches_tracked"); });
  return unused;
}

/// Returns whether a tensor of a file has the value of a constant, after rounding to the type in
/// the file.
static bool isEqual(const ProgramConstant &constant, const ArrayOnDisk &found) {
  const auto count = *elementCount(found.dims, typeBytes(found.type));
  std::vector<char> given(static_cast<size_t>(count * typeBytes(found.type)));
  readArray(found, 0, given.data(), static_cast<int64_t>(given.size()));
  if (found.type == constant.tensor.type)
    return std::memcmp(given.data(), constant.data, given.size()) == 0;
  std::vector<char> rounded(given.size());
  convertFloats(constant.tensor.type, constant.data, count, found.type, rounded.data());
  return given == rounded;
}

/// Adds a problem if a tensor of the file is not the constant that the program has in its place.
static void checkConstant(const NamedWeights &weights, const std::string &name,
                          const ProgramConstant &constant, Problems &problems) {
  const ArrayOnDisk &found = *weights.file().find(name);
  auto isFloat = [](uint32_t type) { return type == MTC_F32 || mtc_is_narrow_float(type); };
  MtcTensor expected = constant.tensor;
  if (isFloat(expected.type) && isFloat(found.type))
    expected.type = found.type;
  const std::string why = mismatch(expected, found);
  if (!why.empty())
    problems.add(weights.file().path(), ": tensor '", name, "' ", why);
  else if (constant.data && !isEqual(constant, found))
    problems.add(weights.file().path(), ": tensor '", name, "' is a constant of the program, with ",
                 "another value in the model's file; export the model with these weights, or keep ",
                 "the constant with --ignore-weights '", name, "'");
}

/// Adds the problems of a file with valid names.
static void check(const WeightsRequest &request, const NamedWeights &weights, Problems &problems) {
  const MtcProgram &program = request.program;
  std::vector<std::string> unused;
  for (const std::string &name : unusedTensors(weights)) {
    if (request.isIgnored(name))
      continue;
    if (const auto constant = request.constant(weights.nameInProgram(name)))
      checkConstant(weights, name, *constant, problems);
    else
      unused.push_back(name);
  }
  std::vector<std::string> missing;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    if (!weights.of(i).empty())
      checkVariable(program, weights, i, problems);
    else if (request.isRequired(i)) {
      for (const NamedWeights::Expected &tensor : weights.missing(i))
        missing.push_back(tensor.name);
      addMissing(weights, i, unused, problems);
    }
  }
  for (const std::string &name : unused) {
    const ArrayOnDisk &found = *weights.file().find(name);
    problems.add(weights.file().path(), ": the program does not have tensor '", name, "', ",
                 typeName(found.type), " ", shapeText(found.dims),
                 terminal::suggestNames(name, missing), "; --ignore-weights '", name,
                 "' permits it");
  }
}

std::vector<std::string> checkWeights(const WeightsRequest &request) {
  Problems problems;
  problems.attempt([&] {
    const NamedWeights weights(request.program, request.path);
    check(request, weights, problems);
  });
  return problems.get();
}

} // namespace mtc::runtime
