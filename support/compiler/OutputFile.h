//===- OutputFile.h - Atomic creation of output files -----------------------------------------===//

#ifndef MTC_SUPPORT_COMPILER_OUTPUTFILE_H
#define MTC_SUPPORT_COMPILER_OUTPUTFILE_H

#include "support/compiler/OutputPolicy.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mtc::tool {

/// A temporary file in the folder of its target. It is removed when the object is destroyed or a
/// signal terminates the process, unless `commit` has renamed it to the target.
class OutputFile {
public:
  static llvm::Expected<OutputFile> create(OutputTarget target);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  const OutputTarget &getTarget() const { return target; }
  /// Returns the path of the content until the file is committed.
  llvm::StringRef getTemporaryPath() const { return temporary; }
  /// Writes the whole content. The error of a failed write names the target.
  llvm::Error write(llvm::function_ref<void(llvm::raw_ostream &)> print);

private:
  explicit OutputFile(OutputTarget target) : target(std::move(target)) {}
  llvm::Error sync();
  llvm::Error put();
  void takeBack();
  void discard();
  friend llvm::Error commit(llvm::MutableArrayRef<OutputFile> files);

  OutputTarget target;
  std::string temporary;
  /// Exchanged: the temporary name refers to the replaced file.
  enum class State { Made, New, Exchanged, Replaced } state = State::Made;
};

/// Flushes the files to disk, then renames all of them to their targets, or none: if one fails,
/// earlier renames are undone.
llvm::Error commit(llvm::MutableArrayRef<OutputFile> files);

/// Writes an output, either to a new element of `files`, which `commit` renames later, or directly
/// to the target if it is a device or pipe.
llvm::Error addOutput(std::vector<OutputFile> &files, const OutputTarget &target,
                      llvm::function_ref<void(llvm::raw_ostream &)> print);
/// Writes and commits a single output.
llvm::Error writeOutput(const OutputTarget &target,
                        llvm::function_ref<void(llvm::raw_ostream &)> print);

} // namespace mtc::tool

#endif // MTC_SUPPORT_COMPILER_OUTPUTFILE_H
