//===- Combinations.cpp - Combinations of changes that the search may make --------------------===//

#include "passes/planning/Combinations.h"

using namespace mlir;
using namespace mtc;

Combinations::Combinations(const PlanSettings &given, const PlanContext &context,
                           ArrayRef<std::string> allowed)
    : given(given), context(context), allowed(allowed) {
  for (const Technique &technique : getTechniques())
    changes.push_back(technique.propose ? technique.propose(given, context)
                                        : std::vector<PlanChange>());
}

bool Combinations::isPermitted(const Technique &technique) const {
  switch (technique.permission) {
  case Permission::Budget:
    return true;
  case Permission::Allow:
    return llvm::is_contained(allowed, technique.name);
  case Permission::Flag:
    return false;
  }
  llvm_unreachable("all permissions are handled");
}

Combination Combinations::getUndone() const {
  Combination combination = none();
  for (auto [i, technique] : llvm::enumerate(getTechniques()))
    if (technique.isUndone && isPermitted(technique) && changes[i].size() == 1)
      combination.picks[i] = 0;
  return combination;
}

std::vector<Combination> Combinations::findAll() const {
  std::vector<Combination> all = {getUndone()};
  for (auto [i, technique] : llvm::enumerate(getTechniques())) {
    // A technique that only the user has switched off stays off.
    if (technique.permission != Permission::Allow || !isPermitted(technique) ||
        changes[i].size() != 1)
      continue;
    for (size_t known = all.size(), k = 0; k < known; ++k) {
      all.push_back(all[k]);
      all.back().picks[i] = 0;
    }
  }
  return all;
}

std::optional<size_t> Combinations::findCounted() const {
  for (auto [i, technique] : llvm::enumerate(getTechniques()))
    if (isPermitted(technique) && changes[i].size() > 1)
      return i;
  return std::nullopt;
}

PlanSettings Combinations::settingsOf(const Combination &combination) const {
  PlanSettings settings = given;
  for (auto [own, pick] : llvm::zip_equal(changes, combination.picks))
    if (pick)
      own[*pick].apply(settings);
  return settings;
}

PlanRequest Combinations::requestOf(const Combination &combination) const {
  PlanRequest request{settingsOf(combination)};
  for (auto [technique, own, pick] : llvm::zip_equal(getTechniques(), changes, combination.picks))
    if (pick) {
      request.flags += (request.flags.empty() ? "" : " ") + own[*pick].flags;
      request.effect = std::max(request.effect, technique.effect);
    }
  return request;
}

std::optional<PlanChange> Combinations::findOpened(size_t index,
                                                   const Combination &combination) const {
  const Technique &technique = getTechniques()[index];
  if (technique.permission != Permission::Allow || !isPermitted(technique) ||
      !changes[index].empty() || !technique.propose)
    return std::nullopt;
  std::vector<PlanChange> opened = technique.propose(settingsOf(combination), context);
  return opened.size() == 1 ? std::optional(std::move(opened.front())) : std::nullopt;
}

bool mtc::haveEqualLateChanges(const Combination &a, const Combination &b) {
  return llvm::all_of(llvm::zip_equal(getTechniques(), a.picks, b.picks), [](const auto &each) {
    const auto &[technique, first, second] = each;
    return technique.stage < Stage::Allocated || first == second;
  });
}
