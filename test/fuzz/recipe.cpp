// Reads recipes like `mtc plan`.
#include "driver/CommandLine.h"
#include "driver/Report.h"
#include "test/fuzz/written_input.h"

using namespace mtc;

namespace {
struct Refused {};
} // namespace

// Replaces the function of the tool, so that an error that would end the tool ends only the run of
// one input.
void tool::fail(const llvm::Twine &) { throw Refused(); }
void tool::fail(llvm::Error error) {
  llvm::consumeError(std::move(error));
  throw Refused();
}
void tool::note(const llvm::Twine &) {}
void tool::warn(const llvm::Twine &) {}
void tool::setQuiet() {}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string recipe = fuzz::Folder::get().write("recipe.toml", data, size);
  std::string words[] = {"mtc", "plan", "model.onnx", "--recipe", recipe};
  char *arguments[std::size(words)];
  for (size_t i = 0; i < std::size(words); ++i)
    arguments[i] = words[i].data();
  try {
    tool::Options options;
    tool::parseCommandLine(std::size(words), arguments, options);
  } catch (const Refused &) {
  }
  return 0;
}
