// Descriptions of programs in manifests.
#include "runtime/state/program_description.h"

#include "runtime/io/checksum.h"
#include "runtime/state/stored_variable.h"
#include "runtime/state/variables.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <vector>

namespace mtc::runtime {
namespace {

using Json = nlohmann::json;

const char *nameOfRole(uint32_t role) {
  switch (role) {
  case MTC_PARAMETER:
    return "parameter";
  case MTC_FROZEN:
    return "frozen";
  case MTC_OPTIMIZER:
    return "optimizer state";
  case MTC_AVERAGE:
    return "average";
  default:
    return "state";
  }
}

std::string describe(const MtcTensor &tensor) {
  return text(typeName(tensor.type), " ", shapeText(shapeOf(tensor)));
}

/// Adds the tensors of the user's module in which a variable is stored.
void addImages(const MtcVariable &variable, std::string &layouts) {
  for (uint32_t i = 0; i < variable.image_count; ++i) {
    const MtcTensorImage &image = variable.images[i];
    layouts += text(variable.tensor.name, " is ", image.name);
    for (uint32_t d = 0; d < image.rank; ++d)
      layouts += text(" ", image.dims[d]);
    for (uint32_t p = 0; p < image.part_count; ++p) {
      const MtcImagePart &part = image.parts[p];
      layouts += text(" from ", part.variable, " at ", part.image);
      for (uint32_t axis = 0; axis < part.rank; ++axis)
        layouts += text(" ", part.extents[axis], ":", part.variable_strides[axis], ":",
                        part.image_strides[axis]);
    }
    layouts += '\n';
  }
}

std::string adapterText(const MtcProgram &program, const MtcAdapter &adapter) {
  return text(program.variables[adapter.base].tensor.name, " ", adapter.alpha, "\n");
}

std::string checksumOf(const std::string &content) {
  Checksum sum;
  sum.add(content.data(), static_cast<int64_t>(content.size()));
  return checksumText(sum.value());
}

/// Returns the differences of the variables, of which the first few are named.
std::string differencesOfVariables(const Json &saved, const Json &own) {
  constexpr size_t named = 3;
  std::vector<std::string> clauses;
  for (const auto &[name, type] : own.items())
    if (const auto found = saved.find(name); found == saved.end())
      clauses.push_back(text("'", name, "' (", type.get<std::string>(), ") is not in it"));
    else if (*found != type)
      clauses.push_back(text("'", name, "' is ",
                             found->is_string() ? found->get<std::string>() : "",
                             ", in this program ", type.get<std::string>()));
  for (const auto &[name, type] : saved.items())
    if (!own.contains(name))
      clauses.push_back(text("'", name, "' is not in this program"));
  std::string joined;
  for (size_t i = 0; i < clauses.size() && i < named; ++i)
    joined += (i ? "; " : "") + clauses[i];
  if (clauses.size() > named)
    joined += text("; ", clauses.size() - named, " more variables differ");
  return joined;
}

} // namespace

Json describeProgram(const MtcProgram &program) {
  Json variables = Json::object();
  std::string layouts, adapters;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if ((!isSaved(variable) && variable.role != MTC_FROZEN) || isSumOfStep(program, variable))
      continue;
    variables[variable.tensor.name] =
        text(nameOfRole(variable.role), " ", describe(StoredVariable(program, i).tensor()));
    addImages(variable, layouts);
  }
  for (uint32_t i = 0; i < program.adapter_count; ++i)
    adapters += adapterText(program, program.adapters[i]);
  return {{"optimizer", program.optimizer},
          {"loss", program.loss},
          {"variables", std::move(variables)},
          {"layouts", checksumOf(layouts)},
          {"adapters", checksumOf(adapters)}};
}

std::string describeDifferences(const Json &saved, const Json &own) {
  if (!saved.is_object())
    return "its manifest does not describe its program";
  std::string joined;
  auto add = [&](const std::string &clause) { joined += (joined.empty() ? "" : "; ") + clause; };
  for (const char *key : {"optimizer", "loss"})
    if (const Json found = saved.value(key, Json()); found != own.at(key))
      add(text("the ", key, " is ", found.dump(), ", in this program ", own.at(key).dump()));
  const Json variables = saved.value("variables", Json());
  if (!variables.is_object())
    add("its variables are not listed");
  else if (const std::string clauses = differencesOfVariables(variables, own.at("variables"));
           !clauses.empty())
    add(clauses);
  if (saved.value("layouts", Json()) != own.at("layouts"))
    add("the names or layouts of its tensors in the module differ");
  if (saved.value("adapters", Json()) != own.at("adapters"))
    add("its adapters differ");
  return joined;
}

} // namespace mtc::runtime
