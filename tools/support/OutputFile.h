//===- OutputFile.h - Files that appear complete, and together --------------------------------===//

#ifndef MTC_TOOLS_SUPPORT_OUTPUTFILE_H
#define MTC_TOOLS_SUPPORT_OUTPUTFILE_H

#include "tools/support/OutputPolicy.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mtc::tool {

/// A file in the making, under another name in its target's folder. It vanishes with this object,
/// or when a signal ends the process, unless `commit` has put it in place.
class OutputFile {
public:
  static llvm::Expected<OutputFile> create(OutputTarget target);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  const OutputTarget &getTarget() const { return target; }
  /// Where its content goes until then.
  llvm::StringRef getTemporaryPath() const { return temporary; }
  /// Writes the whole content. A write that fails is an error that names the target.
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
  /// Exchanged: the temporary name holds the file that was replaced.
  enum class State { Made, New, Exchanged, Replaced } state = State::Made;
};

/// Makes the files durable, then puts all of them in place, or none: when one cannot be, those
/// before it are taken back.
llvm::Error commit(llvm::MutableArrayRef<OutputFile> files);

/// Writes an output: to a new one of `files`, which `commit` then puts in place, or to the device
/// or pipe that the target is.
llvm::Error addOutput(std::vector<OutputFile> &files, const OutputTarget &target,
                      llvm::function_ref<void(llvm::raw_ostream &)> print);
/// The same for a single file, which is put in place at once.
llvm::Error writeOutput(const OutputTarget &target,
                        llvm::function_ref<void(llvm::raw_ostream &)> print);

} // namespace mtc::tool

#endif // MTC_TOOLS_SUPPORT_OUTPUTFILE_H
