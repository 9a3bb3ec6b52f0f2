//===- Registry.cpp - What is known of each operator ------------------------------------------===//

#include "frontend/inference/Registry.h"

#include "frontend/inference/rules/Rules.h"

namespace mtc::onnx {

const Registry &Registry::get() {
  static const Registry registry = [] {
    Registry rules;
    registerAllRules(rules);
    return rules;
  }();
  return registry;
}

const Rule *Registry::find(llvm::StringRef domain, llvm::StringRef name, int64_t version) const {
  auto found = domain.empty() || domain == "ai.onnx" ? rules.find(name)
                                                     : rules.find((domain + "::" + name).str());
  if (found == rules.end())
    return nullptr;
  const Rule *best = nullptr;
  for (const Rule &rule : found->second)
    if (rule.sinceVersion <= version && (!best || rule.sinceVersion > best->sinceVersion))
      best = &rule;
  return best;
}

void Registry::add(llvm::StringRef name, int64_t sinceVersion, Rule::Infer infer,
                   Rule::Evaluate evaluate) {
  rules[name].push_back(Rule{sinceVersion, std::move(infer), std::move(evaluate)});
}

} // namespace mtc::onnx
