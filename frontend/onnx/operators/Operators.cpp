//===- Operators.cpp - Registry of ONNX operators ---------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"

using namespace mlir;

namespace mtc {
namespace onnx {
#define MTC_FILE(NAME) void add##NAME##Operators(Operators &operators);
#include "frontend/onnx/operators/Operators.inc"
#undef MTC_FILE
} // namespace onnx

template <> Registry<onnx::Operators> &Registry<onnx::Operators>::get() {
  static Registry registry = {
#define MTC_FILE(NAME) onnx::add##NAME##Operators,
#include "frontend/onnx/operators/Operators.inc"
#undef MTC_FILE
  };
  return registry;
}
} // namespace mtc

namespace mtc::onnx {

const Operators &Operators::get() { return Registry<Operators>::get().getTable(); }

void Operators::add(StringRef name, int64_t sinceVersion, Operator definition) {
  bool isNew = operators[name].emplace(sinceVersion, std::move(definition)).second;
  assert(isNew && "one definition a version");
  (void)isNew;
}

const Operators::Versions *Operators::versionsOf(StringRef domain, StringRef name) const {
  auto found = domain.empty() || domain == "ai.onnx" ? operators.find(name)
                                                     : operators.find((domain + "::" + name).str());
  return found == operators.end() ? nullptr : &found->second;
}

const Operator *Operators::find(StringRef domain, StringRef name, int64_t version) const {
  const Versions *versions = versionsOf(domain, name);
  if (!versions)
    return nullptr;
  auto later = versions->upper_bound(version);
  return later == versions->begin() ? nullptr : &std::prev(later)->second;
}

std::optional<int64_t> Operators::firstConverted(StringRef domain, StringRef name) const {
  if (const Versions *versions = versionsOf(domain, name))
    for (const auto &[version, definition] : *versions)
      if (definition.convert)
        return version;
  return std::nullopt;
}

std::vector<StringRef> Operators::convertedNames() const {
  std::vector<StringRef> names;
  for (const auto &entry : operators)
    if (llvm::any_of(llvm::make_second_range(entry.second),
                     [](const Operator &definition) { return bool(definition.convert); }))
      names.push_back(entry.first());
  llvm::sort(names);
  return names;
}

} // namespace mtc::onnx
