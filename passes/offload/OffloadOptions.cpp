//===- OffloadOptions.cpp - Options of the offloading passes ----------------------------------===//

#include "passes/offload/OffloadOptions.h"

using namespace mtc;

static constexpr llvm::StringLiteral noneName = "none", automaticName = "auto";

/// The names of the kinds, in the order of `offloadKinds`.
static constexpr std::array<std::pair<llvm::StringLiteral, llvm::StringLiteral>,
                            offloadKinds.size()>
    kindNames = {{{"optimizer", "optimizer state and weight averages"},
                  {"update", "optimizer state and its update, by the CPU (cuda)"},
                  {"activations", "saved activations; with --memory only as many as needed"},
                  {"parameters", "parameters, fetched before each use"},
                  {"gradients", "gradients between micro-steps and until the update"}}};

std::vector<OptionChoice> OffloadOptions::getKindChoices() {
  std::vector<OptionChoice> choices;
  choices.reserve(kindNames.size());
  for (auto [name, help] : kindNames)
    choices.push_back({name.str(), help.str()});
  return choices;
}

llvm::StringRef OffloadOptions::nameOf(OffloadKind kind) {
  return kindNames[static_cast<size_t>(kind)].first;
}

void OffloadOptions::disable(OffloadKind kind) { without.push_back(nameOf(kind).str()); }

std::vector<OptionChoice> OffloadOptions::getChoices() {
  std::vector<OptionChoice> choices = {{noneName.str(), "no offloading"}};
  llvm::append_range(choices, getKindChoices());
  choices.push_back({automaticName.str(), "only as needed to meet --memory, cheapest first"});
  return choices;
}

std::string OffloadOptions::check() const {
  const bool isAlone =
      llvm::is_contained(offload, noneName) || llvm::is_contained(offload, automaticName);
  return isAlone && offload.size() > 1 ? "none and auto cannot be combined" : "";
}

OffloadUses OffloadOptions::getUses(MemorySpace space) const {
  const bool isAutomatic =
      isSet() ? llvm::is_contained(offload, automaticName) : space != MemorySpace::Disk;
  OffloadUses uses;
  for (auto [kind, text] : llvm::zip_equal(offloadKinds, kindNames))
    if (llvm::is_contained(without, text.first) ||
        (isAutomatic && kind == OffloadKind::Update && space == MemorySpace::Disk))
      continue;
    else if (isAutomatic)
      uses[kind] = OffloadUse::Automatic;
    else if (llvm::is_contained(offload, text.first))
      uses[kind] = OffloadUse::On;
  return uses;
}
