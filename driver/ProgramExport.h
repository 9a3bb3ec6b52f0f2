//===- ProgramExport.h - Data with which a program exports its model --------------------------===//

#ifndef MTC_DRIVER_PROGRAMEXPORT_H
#define MTC_DRIVER_PROGRAMEXPORT_H

#include "driver/Compilation.h"

#include "codegen/Codegen.h"

namespace mtc::tool {

/// Adds the segments of the exported model to `files`. Warns if the program cannot export the
/// model, since it can still train.
void addExport(Compilation &compilation, ProgramFiles &files);

/// Returns the model's files, which the program must not overwrite: null-terminated paths relative
/// to the program's folder.
std::string listModelFiles(const SourceModel &model, llvm::StringRef program);

} // namespace mtc::tool

#endif // MTC_DRIVER_PROGRAMEXPORT_H
