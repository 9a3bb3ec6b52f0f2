//===- Initialization.h - Options of mtc-initialize-parameters --------------------------------===//

#ifndef MTC_PASSES_PROGRAM_INITIALIZATION_H
#define MTC_PASSES_PROGRAM_INITIALIZATION_H

#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"
#include "llvm/Support/Error.h"

namespace mtc {

enum class InitialForm {
  PyTorch,
  Normal,
  Uniform,
  Constant,
  XavierUniform,
  XavierNormal,
  KaimingUniform,
  KaimingNormal
};

/// A value of --init: the initial values of the parameters whose names match a pattern.
struct InitialRule {
  std::string text;    ///< As the user wrote it.
  std::string pattern; ///< Empty: of all parameters, by the layers that they belong to.
  InitialForm form = InitialForm::PyTorch;
  double number = 0; ///< Deviation, bound or value.

  /// Parses "[PATTERN:]FORM".
  static llvm::Expected<InitialRule> parse(llvm::StringRef text);
};

/// Options of mtc-initialize-parameters.
struct InitializationOptions {
  std::vector<std::string> init; ///< None: use the model's initializers.

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&InitializationOptions::init,
           {.name = "init",
            .valueName = "[PATTERN:]FORM",
            .help = "Draw initial weights, all or those whose names match",
            .detail = "FORM is pytorch, normal=S, uniform=B, constant=V, xavier-uniform, "
                      "xavier-normal, kaiming-uniform or kaiming-normal. Without a pattern, the "
                      "form is that of weights of layers: biases are 0 and scales of "
                      "normalizations 1. pytorch has the defaults of PyTorch's modules for all. "
                      "normal:S is the same as *:normal=S, for models that are only planned or "
                      "measured. The program's --seed draws other weights.",
            .defaultText = "the weights of the model"},
           [](const InitializationOptions &all) { return all.check(); });
  }

  /// Returns the rules. The options must be valid.
  std::vector<InitialRule> rules() const;

private:
  std::string check() const;
};

std::unique_ptr<mlir::Pass> createInitializeParameters(const InitializationOptions &options);

} // namespace mtc

#endif // MTC_PASSES_PROGRAM_INITIALIZATION_H
