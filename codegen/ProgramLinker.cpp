//===- ProgramLinker.cpp - Runs the linker ----------------------------------------------------===//
//-----------------------------------------------------------===//

#include "codegen/ProgramLinker.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <cstdlib>
#include <fcntl.h>
#include <initializer_list>
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

static std::string append(StringRef folder, const Twine &a, const Twine &b = "") {
  SmallString<128> file(folder);
  path::append(file, a, b);
  path::remove_dots(file, /*remove_dot_dot=*/true);
  return file.str().str();
}

Expected<ProgramLinker> ProgramLinker::find(const LinkInputs &inputs, StringRef libraryFolder) {
  const std::string beside = executableFolder();
  ProgramLinker linker;
  linker.inputs = inputs;
  linker.program = append(beside, "mtc");
  linker.folder = append(libraryFolder.empty() ? append(beside, "..", "lib") : libraryFolder.str(),
                         inputs.architecture);
  for (const std::string &path : {linker.program, append(linker.folder, "system")})
    if (!fs::exists(path))
      return makeError("'" + path + "' is missing; build or install mtc as a whole");
  return linker;
}

Expected<std::vector<std::string>> ProgramLinker::findArchives(StringRef first) const {
  std::vector<std::string> archives{append(folder, first)};
  for (const std::string &name : inputs.archives)
    archives.push_back(append(folder, name));
  for (const std::string &file : archives)
    if (!fs::exists(file))
      return makeError("the runtime library '" + file +
                       "' is missing; build or install mtc as a whole");
  return archives;
}

namespace {

/// The names of an architecture.
struct Architecture {
  const char *emulation; ///< lld's name
  const char *loader;    ///< the dynamic loader
};

/// The start-up files of the C library (crt1, crti, crtn) and of GCC (crtbegin, crtend), before and
/// after the objects of an output.
struct StartupFiles {
  std::vector<StringRef> before, after;
};

} // namespace

static Architecture architectureOf(const LinkInputs &inputs) {
  const Triple host(sys::getDefaultTargetTriple());
  const StringRef name = inputs.architecture.empty() ? host.getArchName() : inputs.architecture;
  if (name == "aarch64")
    return {"aarch64linux", "/lib/ld-linux-aarch64.so.1"};
  return {"elf_x86_64", "/lib64/ld-linux-x86-64.so.2"};
}

static StartupFiles startupFiles(LinkForm form) {
  switch (form) {
  case LinkForm::Program:
    return {{"Scrt1.o", "crti.o", "crtbeginS.o"}, {"crtendS.o", "crtn.o"}};
  case LinkForm::StaticProgram:
    return {{"crt1.o", "crti.o", "crtbeginT.o"}, {"crtend.o", "crtn.o"}};
  case LinkForm::SharedLibrary:
    return {{"crti.o", "crtbeginS.o"}, {"crtendS.o", "crtn.o"}};
  case LinkForm::Object:
    break;
  }
  return {};
}

/// Returns the arguments with the program's name first. lld writes through a memory mapping
/// regardless of its flags, so a full disk terminates it with SIGBUS. lld runs with one thread: if
/// two threads receive the signal, the second terminates lld before the first has removed the
/// temporary file.
std::vector<std::string> ProgramLinker::commandLine(StringRef output, LinkForm form,
                                                    ArrayRef<StringRef> arguments) const {
  const Architecture architecture = architectureOf(inputs);
  const std::string system = append(folder, "system");
  const StartupFiles startup = startupFiles(form);
  // The name makes mtc run as lld.
  std::vector<std::string> all{"ld.lld", "--threads=1", "-m", architecture.emulation,
                               "-o",     output.str()};
  auto add = [&](std::initializer_list<StringRef> more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  if (form == LinkForm::Object)
    add({"-r"});
  else
    add({"--hash-style=gnu", "--build-id", "--eh-frame-hdr", "-L", system});
  if (form == LinkForm::Program)
    add({"-pie", "-dynamic-linker", architecture.loader});
  else if (form == LinkForm::StaticProgram)
    add({"-static"});
  else if (form == LinkForm::SharedLibrary)
    add({"-shared"});
  // Shared libraries that are installed with mtc, rather than with the system.
  const bool isDynamic = form == LinkForm::Program || form == LinkForm::SharedLibrary;
  if (isDynamic && fs::exists(append(folder, "libdnnl.so.2")))
    add({"-rpath", folder});
  for (StringRef file : startup.before)
    all.push_back(append(system, file));
#ifdef MTC_PROGRAM_SANITIZERS
  if (form == LinkForm::Program)
    add({MTC_PROGRAM_SANITIZERS});
#endif
  all.insert(all.end(), arguments.begin(), arguments.end());
  if (form == LinkForm::Object)
    return all;
  if (inputs.hasRanks)
    add({"-lmpi"});
  for (const std::string &name : inputs.libraries)
    all.push_back("-l" + name);
  if (isDynamic)
    add({"-lgcc_s", "-lgcc", "-lc", "-lc_nonshared", "--as-needed", "-lld-linux"});
  else
    add({"-lgcc", "-lgcc_eh", "-lc"});
  for (StringRef file : startup.after)
    all.push_back(append(system, file));
  return all;
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

Error ProgramLinker::link(StringRef output, LinkForm form, ArrayRef<StringRef> arguments,
                          uint64_t expectedBytes) const {
  const LinkerOutput opened(output);
  // The log is stored in the system's temporary folder, so that it is available if the output's
  // disk is full.
  SmallString<128> temporary;
  path::system_temp_directory(/*ErasedOnReboot=*/true, temporary);
  Expected<TemporaryFile> messages = TemporaryFile::create(temporary + "/mtc-link", ".log");
  if (!messages)
    return messages.takeError();
  const std::vector<std::string> words = commandLine(opened.path(), form, arguments);
  const std::vector<StringRef> all(words.begin(), words.end());
  std::optional<StringRef> redirects[] = {std::nullopt, messages->name(), messages->name()};
  std::string failure;
  if (sys::ExecuteAndWait(program, all, std::nullopt, redirects, 0, 0, &failure) == 0)
    return Error::success();
  ErrorOr<std::unique_ptr<MemoryBuffer>> text = MemoryBuffer::getFile(messages->name());
  const std::string said = ((text ? (*text)->getBuffer() : StringRef()) + failure).str();
  if (isOfFullDisk(said, output, expectedBytes))
    return makeError("cannot be written: No space left on device");
  for (StringRef cause : {"Cannot allocate memory", "out of memory", "failed to map segment"})
    if (StringRef(said).contains(cause))
      return makeError("the linker is out of memory; raise the limit of `ulimit -v`, or free "
                       "memory");
  return makeError("linking failed:\n" + said);
}

std::vector<StringRef> mtc::archiveArguments(StringRef code, ArrayRef<std::string> archives) {
  std::vector<StringRef> arguments{"--whole-archive", code, "--no-whole-archive"};
  arguments.insert(arguments.end(), archives.begin(), archives.end());
  return arguments;
}
