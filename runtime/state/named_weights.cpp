// The program's tables contain both names of each variable: the module's and the initializer's.
#include "runtime/state/named_weights.h"

#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <map>
#include <set>

namespace mtc::runtime {

/// The program's names of the variables that a file may provide.
struct NamedWeights::Names {
  explicit Names(const MtcProgram &program);

  bool isKnown(const std::string &name) const {
    return ofModule.contains(name) || ofModel.contains(name);
  }

  std::vector<uint32_t> variables;
  std::map<std::string, std::vector<uint32_t>>
      ofModule; ///< Variables with elements of each tensor.
  std::map<std::string, uint32_t> ofModel;
  std::set<std::string> unclear; ///< Names in both layouts that refer to different tensors.
};

static bool isOverridable(const MtcVariable &variable) {
  return variable.role == MTC_PARAMETER || variable.role == MTC_FROZEN ||
         variable.role == MTC_STATE || variable.initial == MTC_INITIAL_FILE;
}

/// Calls `use` with each tensor of the module and of files of save_pretrained that has elements of
/// the variable.
template <typename Use> static void forEachImage(const MtcVariable &variable, const Use &use) {
  for (uint32_t i = 0; i < variable.image_count; ++i)
    use(variable.images[i]);
  for (uint32_t i = 0; i < variable.pretrained_image_count; ++i)
    use(variable.pretrained_images[i]);
}

NamedWeights::Names::Names(const MtcProgram &program) {
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (!isOverridable(variable))
      continue;
    variables.push_back(i);
    ofModel.emplace(variable.tensor.name, i);
    auto add = [&](const char *name) {
      std::vector<uint32_t> &holders = ofModule[name];
      if (holders.empty() || holders.back() != i)
        holders.push_back(i);
    };
    forEachImage(variable, [&](const MtcTensorImage &image) { add(image.name); });
    if (variable.image_count == 0 && variable.is_in_module)
      add(variable.tensor.name);
  }
  for (const uint32_t i : variables) {
    const MtcVariable &variable = program.variables[i];
    // In a module of the initializers' names, the kind of the file decides between its layout and
    // that of save_pretrained.
    const bool isOfModule = variable.image_count == 0 && variable.is_in_module;
    forEachImage(variable, [&](const MtcTensorImage &image) {
      auto same = ofModel.find(image.name);
      if (same != ofModel.end() && (same->second != i || (!isWhole(&image) && !isOfModule)))
        unclear.insert(same->first);
    });
    if (variable.image_count == 0 && ofModule.contains(variable.tensor.name) &&
        ofModule.at(variable.tensor.name) != std::vector<uint32_t>{i})
      unclear.insert(variable.tensor.name);
  }
}

std::optional<std::string> NamePrefix::nameInFile(const std::string &name) const {
  if (!name.starts_with(inProgram))
    return std::nullopt;
  return inFile + name.substr(inProgram.size());
}

/// Returns the name that a module has for a tensor of a file. `torch.compile` adds `_orig_mod`
/// to the path, and TensorFlow, like early versions of transformers, names the parameters of
/// normalizations gamma and beta.
static std::string moduleName(std::string name) {
  constexpr std::string_view compiled = "_orig_mod.";
  for (size_t at = name.find(compiled); at != std::string::npos; at = name.find(compiled))
    name.erase(at, compiled.size());
  for (const auto &[old, current] : {std::pair(".gamma", ".weight"), std::pair(".beta", ".bias")})
    if (name.ends_with(old))
      name.replace(name.rfind('.'), std::string::npos, current);
  return name;
}

void NamedWeights::addSpellings() {
  for (const auto &[name, array] : weights.tensors())
    if (std::string module = moduleName(name);
        module != name && !weights.find(module) && !names->isKnown(name))
      spelled.emplace(module, name);
}

/// Returns the name in the file of the tensor that its module calls `name`.
std::optional<std::string> NamedWeights::inFile(const std::string &name) const {
  if (weights.find(name))
    return name;
  const auto found = spelled.find(name);
  return found == spelled.end() ? std::nullopt : std::optional(found->second);
}

/// Returns the name in the file of the tensor that the program calls `name`.
std::optional<std::string> NamedWeights::find(const std::string &name) const {
  if (auto own = inFile(name))
    return own;
  const std::optional<std::string> other = common ? common->nameInFile(name) : std::nullopt;
  return other && !names->isKnown(*other) ? inFile(*other) : std::nullopt;
}

std::string NamedWeights::nameInFile(const std::string &name) const {
  if (auto found = find(name))
    return *found;
  return (common ? common->nameInFile(name) : std::nullopt).value_or(name);
}

std::string NamedWeights::nameInProgram(const std::string &name) const {
  std::string module = moduleName(name);
  if (common && module.starts_with(common->inFile))
    module.replace(0, common->inFile.size(), common->inProgram);
  return module;
}

/// Returns the groups of images of the variable, of which a null image is the variable itself;
/// first those whose layout the file has if names are equal.
std::vector<ImageGroup> NamedWeights::groupsOf(uint32_t variable) const {
  const MtcVariable &described = program.variables[variable];
  std::vector<ImageGroup> groups = imageGroups(program, variable);
  if (described.image_count == 0 && described.is_in_module)
    groups.push_back({nullptr});
  const std::vector<ImageGroup> pretrained = pretrainedGroups(program, variable);
  groups.insert(folderOfWeights(weights.path()).empty() ? groups.end() : groups.begin(),
                pretrained.begin(), pretrained.end());
  return groups;
}

/// Returns each complete set of tensors for the variable.
std::vector<std::vector<FoundTensor>> NamedWeights::match(uint32_t variable) const {
  const std::string own = program.variables[variable].tensor.name;
  std::vector<std::vector<FoundTensor>> sets;
  auto isTaken = [&](const std::string &name) {
    return std::any_of(sets.begin(), sets.end(),
                       [&](const auto &set) { return set.front().name == name; });
  };
  auto add = [&](const ImageGroup &group, Layout as) {
    std::vector<FoundTensor> tensors;
    for (const MtcTensorImage *image : group) {
      const std::string name = image ? image->name : own;
      const bool isExcluded = layout && *layout != as && names->unclear.contains(name);
      if (auto inFile = isExcluded ? std::nullopt : find(name))
        tensors.push_back({*inFile, weights.find(*inFile), image});
    }
    if (tensors.size() == group.size() && !isTaken(tensors.front().name))
      sets.push_back(std::move(tensors));
  };
  for (const ImageGroup &group : groupsOf(variable))
    add(group, Layout::Module);
  add({nullptr}, Layout::Model);
  return sets;
}

/// Returns whether a prefix consists of the names of wrappers, which say nothing about the model.
static bool isOfWrappers(const std::string &prefix) {
  static const std::set<std::string> wrappers = {"model", "transformer", "base_model", "module",
                                                 "_orig_mod"};
  for (size_t at = 0; at < prefix.size();) {
    const size_t dot = prefix.find('.', at);
    if (!wrappers.contains(prefix.substr(at, dot - at)))
      return false;
    at = dot + 1;
  }
  return true;
}

/// Calls `use` with each prefix of a name that ends with a dot, and the rest of the name.
template <typename Use> static void forEachPrefix(const std::string &name, const Use &use) {
  for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
    use(name.substr(0, dot + 1), name.substr(dot + 1));
}

/// Returns the prefixes with which an unmatched variable has a tensor in the file.
std::set<NamePrefix> NamedWeights::candidates(const std::vector<uint32_t> &unmatched) const {
  // Prefixes of the names in the file, by the rest of the name.
  std::map<std::string, std::vector<std::string>> starts;
  auto addStarts = [&](const std::string &name) {
    forEachPrefix(name, [&](const std::string &prefix, const std::string &rest) {
      starts[rest].push_back(prefix);
    });
  };
  for (const auto &entry : weights.tensors())
    addStarts(entry.first);
  for (const auto &entry : spelled)
    addStarts(entry.first);
  std::set<NamePrefix> found;
  auto consider = [&](const std::string &name) {
    for (const std::string &prefix : starts[name])
      found.insert({prefix, ""});
    forEachPrefix(name, [&](const std::string &prefix, const std::string &rest) {
      if (inFile(rest))
        found.insert({"", prefix});
      if (isOfWrappers(prefix))
        for (const std::string &other : starts[rest])
          if (other != prefix && isOfWrappers(other))
            found.insert({other, prefix});
    });
  };
  for (const uint32_t variable : unmatched) {
    consider(program.variables[variable].tensor.name);
    forEachImage(program.variables[variable],
                 [&](const MtcTensorImage &image) { consider(image.name); });
  }
  return found;
}

/// Returns "with the prefix 'a.'", "without the prefix 'b.'", or "with the prefix 'a.' for 'b.'".
static std::string describe(const NamePrefix &prefix) {
  if (prefix.inFile.empty())
    return text("without the prefix '", prefix.inProgram, "'");
  return text("with the prefix '", prefix.inFile, "'",
              prefix.inProgram.empty() ? "" : " for '" + prefix.inProgram + "'");
}

/// Selects, among the prefixes that would match unmatched names, the one with the most matches.
void NamedWeights::choosePrefix() {
  std::vector<uint32_t> unmatched;
  for (const uint32_t variable : names->variables)
    if (program.variables[variable].role != MTC_CONSTANT && match(variable).empty())
      unmatched.push_back(variable);
  if (unmatched.empty())
    return;
  std::optional<NamePrefix> best, equal;
  for (const NamePrefix &candidate : candidates(unmatched)) {
    common = candidate;
    const auto count =
        static_cast<int>(std::count_if(unmatched.begin(), unmatched.end(), [&](uint32_t variable) {
          return !match(variable).empty();
        }));
    if (count == 0 || count < prefixedCount)
      continue;
    if (count > prefixedCount) {
      best = candidate;
      equal.reset();
    } else {
      equal = candidate;
    }
    prefixedCount = count;
  }
  common.reset();
  if (!equal) {
    common = best;
    return;
  }
  userError(weights.path(), ": tensor '", missing(unmatched.front()).front().name,
            "' is missing, and ", prefixedCount, " of the program's tensors are there ",
            describe(*best), " and as many ", describe(*equal),
            "; expected names that differ from the program's by one prefix at most");
}

std::vector<std::string> NamedWeights::describeMatches() const {
  std::vector<std::string> matches;
  if (common)
    matches.push_back(
        text(prefixedCount, " of the program's tensors have names ", describe(*common), " there"));
  int compiled = 0, old = 0;
  for (const auto &tensors : found)
    for (const FoundTensor &tensor : tensors)
      if (moduleName(tensor.name) != tensor.name && !names->isKnown(tensor.name))
        ++(tensor.name.find("_orig_mod.") != std::string::npos ? compiled : old);
  if (compiled)
    matches.push_back(text(compiled, " tensors have names with '_orig_mod.', of torch.compile"));
  if (old)
    matches.push_back(text(old, " tensors are named gamma or beta, which are weight and bias"));
  return matches;
}

/// Resolves ambiguous names: they belong to the layout of the file's unambiguous names.
void NamedWeights::chooseLayout() {
  auto isThere = [&](const std::string &name) { return find(name).has_value(); };
  auto unclear = std::find_if(names->unclear.begin(), names->unclear.end(), isThere);
  if (unclear == names->unclear.end())
    return;
  bool isModules = weights.metadata(MTC_WEIGHTS_NAMES) == MTC_MODULE_NAMES, isModels = false;
  if (!isModules) {
    for (const auto &entry : names->ofModule)
      isModules |= !names->ofModel.contains(entry.first) && isThere(entry.first);
    for (const auto &entry : names->ofModel)
      isModels |= !names->ofModule.contains(entry.first) && isThere(entry.first);
  }
  if (isModules == isModels)
    userError(weights.path(), ": tensor '", *unclear, "' could be that of the module or the ",
              "initializer of the ONNX file, which have other layouts, and the file has ",
              isModules ? "names of both" : "no other name that tells",
              "; expected the names of one. With the metadata {\"", MTC_WEIGHTS_NAMES, "\": \"",
              MTC_MODULE_NAMES, "\"}, which save_file accepts, it is the module's");
  layout = isModules ? Layout::Module : Layout::Model;
}

NamedWeights::NamedWeights(const MtcProgram &program, const std::string &path)
    : program(program), weights(path), names(std::make_shared<const Names>(program)),
      found(program.variable_count), further(program.variable_count) {
  addSpellings();
  choosePrefix();
  chooseLayout();
  for (const uint32_t variable : names->variables) {
    std::vector<std::vector<FoundTensor>> sets = match(variable);
    if (sets.empty())
      continue;
    const MtcVariable &described = program.variables[variable];
    const MtcTensorImage *first = sets.front().front().image;
    hasPretrained |= first && first >= described.pretrained_images &&
                     first < described.pretrained_images + described.pretrained_image_count;
    found[variable] = std::move(sets.front());
    further[variable].assign(std::make_move_iterator(sets.begin() + 1),
                             std::make_move_iterator(sets.end()));
  }
}

std::vector<std::string> NamedWeights::unknown() const {
  std::set<std::string> used;
  auto use = [&](const std::string &name) {
    if (auto inFile = find(name))
      used.insert(*inFile);
  };
  for (const auto &entry : names->ofModel)
    use(entry.first);
  for (const auto &entry : names->ofModule)
    use(entry.first);
  for (uint32_t i = 0; i < program.buffer_count; ++i)
    for (const char *name : {program.buffers[i].tensor.name, program.buffers[i].pretrained_name})
      use(name);
  std::vector<std::string> rest;
  for (const auto &entry : weights.tensors())
    if (!used.contains(entry.first))
      rest.push_back(entry.first);
  return rest;
}

std::vector<NamedWeights::Expected> NamedWeights::missing(uint32_t variable) const {
  std::vector<Expected> lacking;
  auto add = [&](const std::string &name, const MtcTensor &tensor) {
    // A tensor with elements of several variables is reported for the first of them.
    auto holders = names->ofModule.find(name);
    const bool isOthers = holders != names->ofModule.end() && holders->second.front() != variable;
    if (!find(name) && !isOthers)
      lacking.push_back({nameInFile(name), tensor});
  };
  const MtcTensor value = valueOf(program, variable);
  // The group that lacks the fewest tensors or, among equals, that of the file's other names.
  const auto module = imageGroups(program, variable), saved = pretrainedGroups(program, variable);
  auto countFound = [&](const std::vector<ImageGroup> &groups) {
    return groups.empty() ? 0
                          : std::count_if(groups.front().begin(), groups.front().end(),
                                          [&](auto *image) { return find(image->name); });
  };
  const auto ofModule = countFound(module), ofSaved = countFound(saved);
  const auto &groups =
      !saved.empty() && (ofSaved > ofModule || (ofSaved == ofModule && hasPretrained)) ? saved
                                                                                       : module;
  if (groups.empty())
    add(value.name, value);
  else
    for (const MtcTensorImage *image : groups.front())
      add(image->name, tensorOf(value, *image));
  return lacking;
}

} // namespace mtc::runtime
