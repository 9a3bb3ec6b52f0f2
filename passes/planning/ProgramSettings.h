//===- ProgramSettings.h - The settings that programs can have --------------------------------===//

#ifndef MTC_PASSES_PLANNING_PROGRAMSETTINGS_H
#define MTC_PASSES_PLANNING_PROGRAMSETTINGS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace mtc {

/// Returns the value of `mtc.settings`: the names of all settings that programs can have, with
/// their flags.
mlir::DictionaryAttr describeSettings(mlir::MLIRContext *context);

} // namespace mtc

#endif // MTC_PASSES_PLANNING_PROGRAMSETTINGS_H
