//===- ProgramWriter.h - Code, weights and files of a compiled program ------------------------===//

#ifndef MTC_DRIVER_PROGRAMWRITER_H
#define MTC_DRIVER_PROGRAMWRITER_H

#include "driver/Compilation.h"
#include "driver/Weights.h"

#include "codegen/Codegen.h"
#include "passes/memory/MemoryPlan.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mtc::tool {

/// Returns whether the result is linked: a program or a library.
bool isLinked(Result result);

/// Returns the destination of the program, library, object or stage's text; nullopt for standard
/// output.
llvm::Expected<std::optional<OutputTarget>> chooseDestination(const Options &options,
                                                              Compilation &compilation);

/// Generates the code of an allocated program or library, and writes it with its companions:
/// initial weights, and the header of a library.
class ProgramWriter {
public:
  ProgramWriter(const Options &options, Compilation &compilation, const MemoryPlan &plan,
                std::optional<OutputTarget> destination);

  /// Collects the initial weights and the data for exports, and chooses the companions'
  /// destinations. Reports errors and returns the exit code.
  int prepare();
  /// Compiles the program to an archive. Fails with diagnostics.
  mlir::FailureOr<std::unique_ptr<llvm::MemoryBuffer>> generateCode();
  /// Links the program or library, and writes it with its companions and the remarks atomically:
  /// all of them or none.
  llvm::Error write(const llvm::MemoryBuffer &code);

  /// Returns what the program trains and its memory, as part of a sentence.
  std::string describe() const;
  /// Describes the plan and the written files.
  llvm::json::Object toJson() const;

private:
  llvm::Error chooseWeights();
  llvm::Error chooseInitialWeights();
  llvm::Error chooseHeader();
  llvm::Expected<OutputTarget> addCompanion(llvm::StringRef role, const std::string &path);
  llvm::Error link(const llvm::MemoryBuffer &code, llvm::StringRef output);
  llvm::Error linkAndWriteWeights(const llvm::MemoryBuffer &code, std::vector<OutputFile> &outputs);

  const Options &options;
  Compilation &compilation;
  mlir::ModuleOp largest; ///< of the pipeline stages; it lists the variables of all
  const MemoryPlan &plan;
  std::optional<OutputTarget> destination, weightsTarget, headerTarget;
  std::string header;
  Weights weights;
  ProgramFiles files;
};

} // namespace mtc::tool

#endif // MTC_DRIVER_PROGRAMWRITER_H
