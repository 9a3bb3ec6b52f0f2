// Running statistics belong to the saved modules, because training updates them.
#include "runtime/state/saved_modules.h"

#include "runtime/support/failure.h"

#include <algorithm>

namespace mtc::runtime {
namespace {

bool isTrained(const MtcProgram &program, uint32_t index) {
  const auto variable = static_cast<int32_t>(index);
  for (uint32_t i = 0; i < program.adapter_count; ++i)
    if (const MtcAdapter &adapter = program.adapters[i];
        adapter.down == variable || adapter.up == variable || adapter.magnitude == variable)
      return false;
  const uint32_t role = program.variables[index].role;
  return role == MTC_PARAMETER || role == MTC_STATE;
}

bool startsWith(const std::string &name, const std::string &start) {
  return name.compare(0, start.size(), start) == 0;
}

bool endsWith(const std::string &name, const std::string &end) {
  return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

/// Returns why PEFT cannot save a module: PEFT selects modules by the ends of their paths, and
/// modules to save take precedence over adapters.
std::string problemOf(const std::string &module, const std::set<std::string> &modules,
                      const std::set<std::string> &adapted) {
  for (const std::string &other : adapted)
    if (startsWith(other + ".", module + ".") || endsWith(other, module))
      return text("would replace the adapter of '", other, "'");
  for (const std::string &other : modules)
    if (other != module && startsWith(other, module + "."))
      return text("contains '", other, "', which is trained too");
  return "";
}

} // namespace

SavedModules findSavedModules(const MtcProgram &program, const std::set<std::string> &adapted) {
  SavedModules saved;
  auto includes = [&](uint32_t variable) { return isTrained(program, variable); };
  saved.tensors = moduleTensors(program, ModuleNames::All, includes);
  const std::set<uint32_t> complete = completeVariables(program, ModuleNames::All, includes);
  std::string problems;
  auto add = [&](const std::string &name, const std::string &problem) {
    problems += text(problems.empty() ? "'" : "; '", name, "' ", problem);
  };
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (const MtcVariable &variable = program.variables[i];
        includes(i) && (!variable.is_in_module || (variable.image_count && !complete.count(i))))
      add(variable.tensor.name, "has no known name in the module");
  for (const ModuleTensor &tensor : saved.tensors)
    if (const size_t dot = tensor.name.rfind('.'); dot != std::string::npos)
      saved.paths.insert(tensor.name.substr(0, dot));
    else if (problems.empty())
      add(tensor.name, "is a parameter of the outermost module");
  for (const std::string &module : saved.paths)
    if (std::string problem = problemOf(module, saved.paths, adapted); !problem.empty())
      add(module, problem);
  if (!problems.empty())
    saved.problem = text("PEFT stores copies of whole modules (modules_to_save) for what --train "
                         "trains in addition to the adapters, and cannot do so here: ",
                         problems,
                         "; omit it from --train, or write the merged model with --export or "
                         "--export-weights");
  return saved;
}

} // namespace mtc::runtime
