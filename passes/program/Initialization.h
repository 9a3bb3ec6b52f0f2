//===- Initialization.h - Options of mtc-initialize-parameters --------------------------------===//

#ifndef MTC_PASSES_PROGRAM_INITIALIZATION_H
#define MTC_PASSES_PROGRAM_INITIALIZATION_H

#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Options of mtc-initialize-parameters.
struct InitializationOptions {
  std::string init; // Empty: use the model's initializers.

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&InitializationOptions::init,
           {.name = "init",
            .valueName = "normal:S",
            .help = "Initialize parameters randomly with standard deviation S",
            .detail = "For models whose weights are missing, such as graphs without their external "
                      "data."},
           [](const InitializationOptions &all) -> std::string {
             bool isValid = all.init.empty() || all.standardDeviation();
             return isValid
                        ? ""
                        : "expected normal:S with a standard deviation S from 1.2e-38 to 3.4e+38";
           });
  }

  /// Returns S of `normal:S`, or nothing if `init` has another form.
  std::optional<double> standardDeviation() const;
};

std::unique_ptr<mlir::Pass> createInitializeParameters(const InitializationOptions &options);

} // namespace mtc

#endif // MTC_PASSES_PROGRAM_INITIALIZATION_H
