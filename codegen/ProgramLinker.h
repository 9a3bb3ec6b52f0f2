//===- ProgramLinker.h - Runs the linker ------------------------------------------------------===//
//-------------------------------------------------------------===//

#ifndef MTC_CODEGEN_PROGRAMLINKER_H
#define MTC_CODEGEN_PROGRAMLINKER_H

#include "codegen/target/Target.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mtc {

/// A temporary file that is removed with this object, or when a signal terminates the process.
class TemporaryFile {
public:
  /// Creates an empty file named `prefix`-RANDOM`suffix`, which only the user may read.
  static llvm::Expected<TemporaryFile> create(const llvm::Twine &prefix, llvm::StringRef suffix);
  TemporaryFile(TemporaryFile &&other) noexcept;
  ~TemporaryFile();

  llvm::StringRef name() const { return file; }
  llvm::Error write(llvm::StringRef bytes) const;

private:
  TemporaryFile() = default;
  std::string file;
};

/// Writes a file, in place.
llvm::Error writeFile(llvm::StringRef file, llvm::StringRef bytes);

/// The kinds of files that the linker writes.
enum class LinkForm { Program, StaticProgram, SharedLibrary, Object };

/// lld, which the executable `mtc` contains, with the start-up files and system libraries that are
/// installed with mtc. Linking needs no compiler and no development files of the machine.
class ProgramLinker {
public:
  /// Finds the executable `mtc` in the folder of the running executable. `libraryFolder` has the
  /// runtime's archives; the default is ../lib relative to the folder of the running executable.
  /// Files for another architecture are in a subfolder of its name. Fails if a folder is missing.
  static llvm::Expected<ProgramLinker> find(const LinkInputs &inputs,
                                            llvm::StringRef libraryFolder);

  /// Returns the paths of the archive `first` and of those of the inputs. Fails if an archive is
  /// missing.
  llvm::Expected<std::vector<std::string>> findArchives(llvm::StringRef first) const;

  /// Links `output` from the arguments, followed by the system libraries of the inputs unless the
  /// output is an object. Errors contain the linker's output, or report a full disk if the disk of
  /// `output` has less than `expectedBytes` bytes left.
  llvm::Error link(llvm::StringRef output, LinkForm form, llvm::ArrayRef<llvm::StringRef> arguments,
                   uint64_t expectedBytes) const;

private:
  std::vector<std::string> commandLine(llvm::StringRef output, LinkForm form,
                                       llvm::ArrayRef<llvm::StringRef> arguments) const;

  LinkInputs inputs;
  std::string program; ///< the executable `mtc`
  std::string folder;  ///< of the archives
};

/// Returns the arguments that link all members of the program's archive `code`, and the members of
/// `archives` that they need.
std::vector<llvm::StringRef> archiveArguments(llvm::StringRef code,
                                              llvm::ArrayRef<std::string> archives);

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAMLINKER_H
