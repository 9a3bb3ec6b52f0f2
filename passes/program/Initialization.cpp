//===- Initialization.cpp - Options of mtc-initialize-parameters ------------------------------===//

#include "passes/program/Initialization.h"

#include "passes/OptionValues.h"

#include "llvm/Support/GlobPattern.h"

#include <cmath>

using namespace mtc;
using llvm::StringRef;

namespace {

struct FormName {
  llvm::StringLiteral name;
  InitialForm form;
  llvm::StringLiteral number = ""; ///< What the form's number is; "" if it has none.
};

constexpr FormName formNames[] = {{"pytorch", InitialForm::PyTorch},
                                  {"normal", InitialForm::Normal, "standard deviation"},
                                  {"uniform", InitialForm::Uniform, "bound"},
                                  {"constant", InitialForm::Constant, "value"},
                                  {"xavier-uniform", InitialForm::XavierUniform},
                                  {"xavier-normal", InitialForm::XavierNormal},
                                  {"kaiming-uniform", InitialForm::KaimingUniform},
                                  {"kaiming-normal", InitialForm::KaimingNormal}};

} // namespace

static llvm::Error problem(const llvm::Twine &text) { return llvm::createStringError(text); }

llvm::Expected<InitialRule> InitialRule::parse(StringRef text) {
  InitialRule rule;
  rule.text = text.str();
  // Every parameter, whatever its layer.
  if (StringRef number = text; number.consume_front("normal:"))
    if (double ignored = 0; parseValue(number, ignored).empty())
      return parse(("*:normal=" + number).str());
  // Names may contain colons, such as onnx::MatMul_3.
  const size_t colon = text.rfind(':');
  StringRef form = text;
  if (colon != StringRef::npos) {
    rule.pattern = text.take_front(colon).str();
    form = text.drop_front(colon + 1);
    if (rule.pattern.empty())
      return problem("the pattern is empty");
    if (llvm::Error error = llvm::GlobPattern::create(rule.pattern).takeError())
      return error;
  }
  auto [name, number] = form.split('=');
  const FormName *found =
      llvm::find_if(formNames, [&](const FormName &each) { return each.name == name; });
  if (found == std::end(formNames)) {
    std::string names;
    for (const FormName &each : formNames)
      names += (names.empty() ? "" : ", ") + each.name.str() + (each.number.empty() ? "" : "=N");
    return problem("'" + name + "': invalid form; expected one of " + names);
  }
  rule.form = found->form;
  if (found->number.empty() != !form.contains('='))
    return problem(name + (found->number.empty() ? ": takes no number"
                                                 : ": expected " + name.str() + "=N with the " +
                                                       found->number.str()));
  if (found->number.empty())
    return rule;
  if (std::string invalid = parseValue(number, rule.number); !invalid.empty())
    return problem(form + ": " + invalid);
  if (rule.form != InitialForm::Constant)
    if (std::string invalid = checkPositive(rule.number); !invalid.empty())
      return problem(form + ": " + invalid);
  const bool isRaw = rule.form == InitialForm::Uniform || rule.form == InitialForm::Constant;
  if (rule.pattern.empty() && isRaw)
    return problem(form + ": needs a pattern, such as '*:" + form + "'");
  return rule;
}

std::string InitializationOptions::check() const {
  size_t general = 0;
  for (const std::string &text : init) {
    llvm::Expected<InitialRule> rule = InitialRule::parse(text);
    if (!rule)
      return llvm::toString(rule.takeError());
    general += rule->pattern.empty();
  }
  return general > 1 ? "has two forms without a pattern" : "";
}

std::vector<InitialRule> InitializationOptions::rules() const {
  std::vector<InitialRule> rules;
  rules.reserve(init.size());
  for (const std::string &text : init)
    rules.push_back(llvm::cantFail(InitialRule::parse(text)));
  return rules;
}
