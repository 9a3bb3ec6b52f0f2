//===- LibraryFiles.h - Files of `mtc compile --emit library` ---------------------------------===//

#ifndef MTC_DRIVER_LIBRARYFILES_H
#define MTC_DRIVER_LIBRARYFILES_H

#include "codegen/Link.h"

namespace mtc::tool {

/// Names that follow from `-o`.
struct LibraryFiles {
  std::string library;     ///< DIR/libNAME.so or DIR/libNAME.a
  std::string header;      ///< DIR/NAME.h
  std::string weightsBase; ///< DIR/NAME, to which the suffix of weights files is added
  LibraryNames names;
};

/// Returns the files for `-o DIR/NAME`, `-o DIR/libNAME.so` or `-o DIR/libNAME.a`. Characters that
/// C identifiers cannot have become `_` in the prefix of the functions.
LibraryFiles libraryFiles(llvm::StringRef output);

/// Facts about a library for its header.
struct LibraryFacts {
  std::string summary; ///< model, loss, optimizer and memory, as a sentence
  std::vector<std::string> systemLibraries;
};

/// Returns the C header of a library.
std::string libraryHeader(const LibraryNames &names, const LibraryFacts &facts);

} // namespace mtc::tool

#endif // MTC_DRIVER_LIBRARYFILES_H
