//===- LinkDriver.h - Runs the linker ---------------------------------------------------------===//

#ifndef MTC_CODEGEN_LINKDRIVER_H
#define MTC_CODEGEN_LINKDRIVER_H

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

/// A compiler driver, such as clang++, that links C++.
class LinkDriver {
public:
  /// Finds a driver for the architecture of the inputs. Fails if none is installed.
  static llvm::Expected<LinkDriver> find(const LinkInputs &inputs);

  /// Links `output` with the arguments. Errors contain the linker's output and the packages of
  /// missing libraries, or report a full disk if the disk of `output` has less than `expectedBytes`
  /// bytes left.
  llvm::Error link(llvm::StringRef output, llvm::ArrayRef<llvm::StringRef> arguments,
                   uint64_t expectedBytes) const;

private:
  std::string program;
  std::vector<std::string> common; ///< arguments of each run
  std::string packages;            ///< packages of Debian that contain the libraries
};

/// Returns the paths of the archive `first` and of those of `inputs` in `folder`; the default is
/// ../lib relative to the folder of the running executable. Those of another architecture are in a
/// folder of its name. Fails if an archive is missing.
llvm::Expected<std::vector<std::string>> findArchives(llvm::StringRef first,
                                                      const LinkInputs &inputs, std::string folder);

/// Returns the arguments that link all members of the program's archive `code`, and the members of
/// `archives` that they need.
std::vector<llvm::StringRef> archiveArguments(llvm::StringRef code,
                                              llvm::ArrayRef<std::string> archives);

} // namespace mtc

#endif // MTC_CODEGEN_LINKDRIVER_H
