//===- ProgramFiles.h - What a program's tables say of other files --------------------------===//

#ifndef MTC_CODEGEN_PROGRAM_PROGRAMFILES_H
#define MTC_CODEGEN_PROGRAM_PROGRAMFILES_H

#include "ir/Mtc.h"

#include <string>
#include <vector>

namespace mtc {

/// A segment of the exported model: bytes, then (unless "") those of a variable or of an image of
/// it, as elements of a type, of files of an MtcExportForm.
struct ExportSegment {
  std::string bytes, variable;
  mlir::Type element;
  TensorImageAttr image; ///< That the file has of the variable; null: the variable as it is.
  uint32_t form;
};

/// What the program's tables say and its module cannot: contents of the model's file, names of
/// files that are made with the program, and the budget and the version of the compiler that makes
/// it.
struct ProgramFiles {
  std::string compilerVersion, weightsFile, weightsDigest, modelFiles, planJson;
  std::vector<ExportSegment> exportSegments;
};

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_PROGRAMFILES_H
