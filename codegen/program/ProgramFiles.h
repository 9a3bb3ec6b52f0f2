//===- ProgramFiles.h - Inputs of a program's tables from outside the module ------------------===//

#ifndef MTC_CODEGEN_PROGRAM_PROGRAMFILES_H
#define MTC_CODEGEN_PROGRAM_PROGRAMFILES_H

#include "ir/Mtc.h"

#include <string>
#include <vector>

namespace mtc {

/// A segment of the exported model: constant bytes, then, unless `variable` is empty, the contents
/// of a variable (or of an image of it) with the given element type. `form` is the MtcExportForm of
/// the files that contain the segment, and `kind` its MtcSegmentKind.
struct ExportSegment {
  std::string bytes, variable;
  mlir::Type element;
  TensorImageAttr image; ///< the variable's layout in the file; null if it is unchanged
  uint32_t form, kind;
};

/// Data for the program's tables that the module does not contain: contents of the model file,
/// names of companion files, the plan, and the compiler's version.
struct ProgramFiles {
  std::string compilerVersion, weightsFile, weightsDigest, initialWeights, modelFiles, planJson;
  std::vector<ExportSegment> exportSegments;
};

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_PROGRAMFILES_H
