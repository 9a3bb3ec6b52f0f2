//===- OptionalNumber.h - Options that are a number, or not given -----------------------------===//

#ifndef MTC_PASSES_OPTIONALNUMBER_H
#define MTC_PASSES_OPTIONALNUMBER_H

#include "llvm/Support/CommandLine.h"

#include <cmath>
#include <optional>

/// Options of type std::optional<double>, of passes and of the command line: infinities and NaN are
/// no numbers that a user can mean. `None` is how LLVM prints one that is not given.
template <>
class llvm::cl::parser<std::optional<double>>
    : public llvm::cl::basic_parser<std::optional<double>> {
public:
  using basic_parser::basic_parser;

  bool parse(Option &option, StringRef name, StringRef text, std::optional<double> &value) {
    value.reset();
    if (text == "None")
      return false;
    double number;
    if (text.getAsDouble(number) || !std::isfinite(number))
      return option.error("expected a finite number, not '" + text + "'", name);
    value = number;
    return false;
  }
  StringRef getValueName() const override { return "number"; }
  void printOptionDiff(const Option &option, const std::optional<double> &,
                       const OptionValue<std::optional<double>> &, size_t width) const {
    printOptionNoValue(option, width);
  }
};

#endif // MTC_PASSES_OPTIONALNUMBER_H
