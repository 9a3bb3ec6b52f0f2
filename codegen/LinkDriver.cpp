//===- LinkDriver.cpp - Runs the linker -------------------------------------------------------===//

#include "codegen/LinkDriver.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <unistd.h>

using namespace llvm;
using namespace mtc;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

Expected<TemporaryFile> TemporaryFile::create(const Twine &prefix, StringRef suffix) {
  // Unlike with llvm::sys::fs::createUniqueFile, no character of the prefix is a placeholder.
  std::string name = (prefix + "-XXXXXX" + suffix).str();
  const int descriptor = mkostemps(name.data(), static_cast<int>(suffix.size()), O_CLOEXEC);
  if (descriptor < 0)
    return makeError("cannot create a file like '" + prefix + "-XXXXXX" + suffix +
                     "': " + errnoAsErrorCode().message());
  static_cast<void>(sys::Process::SafelyCloseFileDescriptor(descriptor));
  TemporaryFile result;
  result.file = std::move(name);
  sys::RemoveFileOnSignal(result.file);
  return result;
}

TemporaryFile::TemporaryFile(TemporaryFile &&other) noexcept : file(std::move(other.file)) {
  other.file.clear();
}

TemporaryFile::~TemporaryFile() {
  if (file.empty())
    return;
  static_cast<void>(fs::remove(file));
  sys::DontRemoveFileOnSignal(file);
}

Error TemporaryFile::write(StringRef bytes) const { return writeFile(file, bytes); }

Error mtc::writeFile(StringRef file, StringRef bytes) {
  std::error_code code;
  raw_fd_ostream stream(file, code);
  if (!code) {
    stream << bytes;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  return code ? makeError("cannot write '" + file + "': " + code.message()) : Error::success();
}

/// Returns the folder of the running executable.
static std::string executableFolder() {
  return path::parent_path(
             fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&executableFolder)))
      .str();
}

/// Returns the folder of libraries beside the executable's.
static std::string libraryFolder() {
  SmallString<128> folder(executableFolder());
  path::append(folder, "..", "lib");
  path::remove_dots(folder, /*remove_dot_dot=*/true);
  return folder.str().str();
}

/// Returns the packages of Debian that contain the libraries of a program.
static std::string packagesFor(const LinkInputs &inputs) {
  std::string suffix;
  if (!inputs.architecture.empty())
    suffix = "-" + (inputs.architecture == "aarch64" ? "arm64" : inputs.architecture) + "-cross";
  std::string packages = "libc6-dev" + suffix + ", libstdc++-12-dev" + suffix;
  if (inputs.hasRanks)
    packages += ", libopenmpi-dev";
  return is_contained(inputs.libraries, "dnnl") ? packages + ", libdnnl-dev" : packages;
}

/// Finds a compiler driver that links C++, and uses lld if it is installed. lld writes through a
/// memory mapping regardless of its flags, so a full disk terminates it with SIGBUS. lld runs with
/// one thread: if two threads receive the signal, the second terminates lld before the first has
/// removed the temporary file. GCC's driver comes first since it starts in 2 ms, where clang loads
/// LLVM (35 ms). Only clang links for other architectures and knows LLVM's sanitizers.
Expected<LinkDriver> LinkDriver::find(const LinkInputs &inputs) {
  const bool isOfHost = inputs.architecture.empty();
  std::string versioned = "clang++-" + std::to_string(LLVM_VERSION_MAJOR);
  std::vector<StringRef> names = {versioned, "clang++"};
#ifndef MTC_PROGRAM_SANITIZERS
  if (isOfHost)
    names = {"g++", versioned, "clang++", "c++", "cc"};
#endif
  for (StringRef name : names) {
    ErrorOr<std::string> program = sys::findProgramByName(name);
    if (!program)
      continue;
    LinkDriver driver;
    driver.program = *program;
    driver.packages = packagesFor(inputs);
    // A linker and system libraries that are installed with mtc come first.
    const std::string beside = executableFolder(), libraries = libraryFolder();
    std::vector<StringRef> folders{beside};
#ifdef MTC_LLVM_BINARIES
    folders.push_back(MTC_LLVM_BINARIES);
#endif
    if (ErrorOr<std::string> lld = sys::findProgramByName("ld.lld", folders))
      driver.common = {"-fuse-ld=lld", "-Wl,--threads=1", "-B" + path::parent_path(*lld).str()};
    else if (sys::findProgramByName("ld.lld"))
      driver.common = {"-fuse-ld=lld", "-Wl,--threads=1"};
    else if (!isOfHost)
      return makeError("no linker for " + inputs.architecture +
                       ": ld.lld is not on PATH; install lld-" + Twine(LLVM_VERSION_MAJOR));
    if (!isOfHost)
      driver.common.push_back("--target=" + inputs.architecture + "-linux-gnu");
    else if (fs::exists(libraries + "/libdnnl.so"))
      driver.common.insert(driver.common.end(),
                           {"-L" + libraries, "-Xlinker", "-rpath=" + libraries});
#ifdef MTC_PROGRAM_SANITIZERS
    driver.common.push_back(MTC_PROGRAM_SANITIZERS);
#endif
    return driver;
  }
  return makeError("no linker: none of " + llvm::join(names, ", ") + " is on PATH; install clang" +
                   (isOfHost ? " or gcc" : ""));
}

Expected<std::vector<std::string>> mtc::findArchives(StringRef first, const LinkInputs &inputs,
                                                     std::string folder) {
  if (folder.empty())
    folder = libraryFolder();
  std::vector<std::string> archives;
  auto add = [&](StringRef name) -> Error {
    SmallString<128> file(folder);
    path::append(file, inputs.architecture, name);
    if (!fs::exists(file))
      return makeError("the runtime library '" + file + "' is missing; build or install mtc " +
                       (inputs.architecture.empty()
                            ? std::string("as a whole")
                            : "with " + packagesFor(inputs) + " installed"));
    archives.push_back(file.str().str());
    return Error::success();
  };
  if (Error error = add(first))
    return error;
  for (const std::string &name : inputs.archives)
    if (Error error = add(name))
      return error;
  return archives;
}

/// Returns what the linker said, without the line in which its driver reports that it failed.
static StringRef withoutDriversLine(StringRef said) {
  StringRef rest = said.trim();
  auto [before, last] = rest.contains('\n') ? rest.rsplit('\n') : std::pair(StringRef(), rest);
  const bool isDrivers = last.starts_with("collect2: error: ld returned") ||
                         last.contains("linker command failed with exit code");
  return isDrivers ? before : rest;
}

/// Returns whether the linker failed because the disk is full, which terminates lld with SIGBUS.
static bool isOfFullDisk(StringRef said, StringRef output, uint64_t minimum) {
  ErrorOr<fs::space_info> space = fs::disk_space(path::parent_path(output));
  return said.contains("Bus error") || said.contains("No space left on device") ||
         (space && space->available < minimum);
}

namespace {

/// The path of an output for the linker. lld replaces each '%' of the path by a random digit and
/// writes to a file of that name first, which may be in another folder. The folder of such a path
/// is passed as a descriptor that the linker inherits.
class LinkerOutput {
public:
  explicit LinkerOutput(StringRef output) : file(output.str()) {
    if (!output.contains('%'))
      return;
    const std::string name = path::parent_path(output).str();
    folder = open(name.empty() ? "." : name.c_str(), O_PATH | O_DIRECTORY);
    if (folder >= 0)
      file = ("/proc/self/fd/" + Twine(folder) + "/" + path::filename(output)).str();
  }
  LinkerOutput(const LinkerOutput &) = delete;
  LinkerOutput &operator=(const LinkerOutput &) = delete;
  ~LinkerOutput() {
    if (folder >= 0)
      close(folder);
  }
  StringRef path() const { return file; }

private:
  std::string file;
  int folder = -1;
};

} // namespace

Error LinkDriver::link(StringRef output, ArrayRef<StringRef> arguments,
                       uint64_t expectedBytes) const {
  const LinkerOutput opened(output);
  // The log is stored in the system's temporary folder, so that it is available if the output's
  // disk is full.
  SmallString<128> folder;
  path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  Expected<TemporaryFile> messages = TemporaryFile::create(folder + "/mtc-link", ".log");
  if (!messages)
    return messages.takeError();
  std::vector<StringRef> all{program};
  all.insert(all.end(), common.begin(), common.end());
  all.insert(all.end(), {"-o", opened.path()});
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {std::nullopt, messages->name(), messages->name()};
  std::string failure;
  if (sys::ExecuteAndWait(program, all, std::nullopt, redirects, 0, 0, &failure) == 0)
    return Error::success();
  ErrorOr<std::unique_ptr<MemoryBuffer>> text = MemoryBuffer::getFile(messages->name());
  StringRef said = text ? (*text)->getBuffer() : StringRef();
  if (isOfFullDisk(said, output, expectedBytes))
    return makeError("cannot be written: No space left on device");
  // The driver reports its failure after it has removed the output, and thus has space to do so.
  if (failure.empty() && withoutDriversLine(said).empty())
    return makeError(program + " stopped without a message, as when a disk is full; free space " +
                     "there or in " + folder + ", or set TMPDIR");
  if (said.contains("Cannot allocate memory") || said.contains("out of memory") ||
      said.contains("failed to map segment"))
    return makeError(program + ": out of memory; raise the limit of `ulimit -v`, or free memory");
  if (said.contains("unable to find library") || said.contains("cannot find"))
    return makeError("a library is missing; install " + packages + ":\n" + said);
  return makeError("linking with " + program + " failed" +
                   (failure.empty() ? "" : " (" + failure + ")") + ":\n" + said);
}

std::vector<StringRef> mtc::archiveArguments(StringRef code, ArrayRef<std::string> archives) {
  std::vector<StringRef> arguments{"-Wl,--whole-archive", code, "-Wl,--no-whole-archive"};
  // The runtime's core and the target's archives depend on each other.
  arguments.push_back("-Wl,--start-group");
  arguments.insert(arguments.end(), archives.begin(), archives.end());
  arguments.push_back("-Wl,--end-group");
  return arguments;
}
