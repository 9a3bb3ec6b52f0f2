//===- OptionalNumber.h - Parser of optional numeric options ----------------------------------===//

#ifndef MTC_PASSES_OPTIONALNUMBER_H
#define MTC_PASSES_OPTIONALNUMBER_H

#include "passes/OptionValues.h"

#include "llvm/Support/CommandLine.h"

#include <optional>

/// Parses pass options of type std::optional<double>. LLVM prints an unset option as `None`.
template <>
class llvm::cl::parser<std::optional<double>>
    : public llvm::cl::basic_parser<std::optional<double>> {
public:
  using basic_parser::basic_parser;

  bool parse(Option &option, StringRef name, StringRef text, std::optional<double> &value) {
    value.reset();
    if (text == "None")
      return false;
    std::string problem = mtc::parseValue(text, value);
    return !problem.empty() && option.error("'" + text + "': " + problem, name);
  }
  StringRef getValueName() const override { return "number"; }
  void printOptionDiff(const Option &option, const std::optional<double> &,
                       const OptionValue<std::optional<double>> &, size_t width) const {
    printOptionNoValue(option, width);
  }
};

#endif // MTC_PASSES_OPTIONALNUMBER_H
