//===- OperatorTable.cpp - Supported ONNX operators -------------------------------------------===//

#include "frontend/onnx/OperatorTable.h"

#include "frontend/onnx/dialect/Schema.h"
#include "frontend/onnx/inference/Expander.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/reader/Model.h"
#include "support/compiler/Errors.h"
#include "support/terminal/suggestions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mtc;
using namespace mtc::onnx;
using llvm::StringRef;

namespace {

/// Returns the versions of an operator's definition that models of supported opsets can use.
std::string describeVersions(llvm::ArrayRef<Schema> schemas) {
  std::string text;
  for (const Schema &schema : schemas)
    text += (text.empty() ? "" : ", ") + std::to_string(schema.sinceVersion) +
            (schema.isDeprecated ? " (deprecated)" : "");
  return text;
}

/// Returns the floating-point types of the first operand that may have such a type in the newest
/// definition, or of the first result if there are no operands.
std::string describeFloats(const Schema &schema) {
  const Signature &described = schema.operands.find(0) ? schema.operands : schema.results;
  std::string text;
  size_t count = described.maximum().value_or(1);
  for (size_t i = 0; i < count && text.empty(); ++i)
    if (auto types = schema.elementTypes.find(described.find(i)->typeParameter);
        types != schema.elementTypes.end())
      for (StringRef type : {"f32", "f64", "f16", "bf16"})
        if (llvm::is_contained(types->second, type))
          text += (text.empty() ? "" : " ") + type.str();
  return text.empty() ? "-" : text;
}

std::string describeSupport(StringRef name) {
  auto [domain, op] = name.contains("::") ? name.split("::") : std::pair(StringRef(), name);
  if (std::optional<int64_t> first = Operators::get().firstConverted(domain, op))
    return *first > oldestOpset && *first > Schema::versions(name).front().sinceVersion
               ? llvm::formatv("yes, from version {0}", *first).str()
               : "yes";
  // The expansion of FlexAttention, outside ai.onnx, depends on no constant.
  if (Expander::expandsOperator(domain, op))
    return !domain.empty()               ? "yes"
           : Expander::keepsOperator(op) ? "expanded at compile time, or compiled as a loop"
                                         : "expanded at compile time";
  const Operator *newest = Operators::get().find(domain, op, newestOpset);
  if (newest && newest->infer)
    return "computed at compile time";
  return "no";
}

} // namespace

llvm::Expected<std::string> mtc::onnx::describeOperators(llvm::ArrayRef<std::string> names) {
  std::vector<StringRef> shown(names.begin(), names.end());
  if (shown.empty())
    shown = Schema::names();
  std::string text = llvm::formatv("{0,-48} {1,-26} {2,-18} {3}\n", "operator", "versions",
                                   "float types", "supported");
  for (StringRef name : shown) {
    llvm::ArrayRef<Schema> schemas = Schema::versions(name);
    if (schemas.empty())
      return tool::makeUserError("mtc operators " + name + ": ONNX has no such operator" +
                                 terminal::suggestNames(name, Schema::names()));
    text += llvm::formatv("{0,-48} {1,-26} {2,-18} {3}\n", name, describeVersions(schemas),
                          describeFloats(schemas.back()), describeSupport(name));
  }
  return text;
}
