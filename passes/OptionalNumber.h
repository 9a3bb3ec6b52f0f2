//===- OptionalNumber.h - Parser of optional numeric options ----------------------------------===//

#ifndef MTC_PASSES_OPTIONALNUMBER_H
#define MTC_PASSES_OPTIONALNUMBER_H

#include "passes/OptionValues.h"

#include "llvm/Support/CommandLine.h"

#include <optional>

/// Parses optional numbers, double or int64_t. LLVM prints an unset option as `None`.
template <typename Number>
class llvm::cl::parser<std::optional<Number>>
    : public llvm::cl::basic_parser<std::optional<Number>> {
public:
  using basic_parser<std::optional<Number>>::basic_parser;

  bool parse(Option &option, StringRef name, StringRef text, std::optional<Number> &value) {
    value.reset();
    if (text == "None")
      return false;
    std::string problem = mtc::parseValue(text, value);
    return !problem.empty() && option.error("'" + text + "': " + problem, name);
  }
  StringRef getValueName() const override { return "number"; }
  void printOptionDiff(const Option &option, const std::optional<Number> &,
                       const OptionValue<std::optional<Number>> &, size_t width) const {
    this->printOptionNoValue(option, width);
  }
};

#endif // MTC_PASSES_OPTIONALNUMBER_H
