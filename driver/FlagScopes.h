//===- FlagScopes.h - Commands and groups of flags --------------------------------------------===//

#ifndef MTC_DRIVER_FLAGSCOPES_H
#define MTC_DRIVER_FLAGSCOPES_H

#include "driver/FlagTable.h"

namespace mtc::tool {

inline constexpr Command everyCommand[] = {Command::Compile, Command::Plan, Command::Gradient,
                                           Command::Inspect};
inline constexpr Command differentiated[] = {Command::Compile, Command::Plan, Command::Gradient};
inline constexpr Command planned[] = {Command::Compile, Command::Plan};
inline constexpr Command compiled[] = {Command::Compile};
inline constexpr Command onlyGradient[] = {Command::Gradient};
inline constexpr Command described[] = {Command::Compile, Command::Plan, Command::Inspect};
inline constexpr Command everyRun[] = {Command::Compile, Command::Plan, Command::Gradient,
                                       Command::Inspect, Command::Sweep};
inline constexpr Command printsJson[] = {Command::Compile, Command::Plan, Command::Inspect,
                                         Command::Sweep};
inline constexpr Command onlyPlanned[] = {Command::Plan};
inline constexpr Command shown[] = {Command::Plan, Command::Inspect};

inline constexpr llvm::StringLiteral modelGroup = "Model", lossGroup = "Loss and precision",
                                     optimizerGroup = "Optimizer", adapterGroup = "Adapters",
                                     memoryGroup = "Memory", targetGroup = "Target",
                                     gradientGroup = "Gradient", outputGroup = "Output",
                                     debugGroup = "Debugging";

/// Adds a flag for each option of a pass of the training pipeline.
template <typename Values>
void addTrainingOptions(FlagTable &flags, Values TrainingOptions::*options,
                        const FlagScope &scope) {
  visitMember(options, [&](auto access, OptionText text, auto...) {
    flags.add([access](Options &all) -> auto & { return access(all.plan.training); },
              std::move(text), scope);
  });
}

/// Adds the flags of the group "Model".
void addModelFlags(FlagTable &flags);
/// Adds the flags of `mtc sweep`.
void addSweepFlags(FlagTable &flags);

} // namespace mtc::tool

#endif // MTC_DRIVER_FLAGSCOPES_H
