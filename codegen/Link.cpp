//===- Link.cpp - Linking of a program with the runtime ---------------------------------------===//

#include "codegen/Link.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <vector>

using namespace llvm;
using namespace mtc;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

namespace {

/// A temporary file that is removed with this object, or when a signal terminates the process.
class TemporaryFile {
public:
  static Expected<TemporaryFile> create(const Twine &model) {
    TemporaryFile result;
    int descriptor;
    if (std::error_code code = fs::createUniqueFile(model, descriptor, result.file))
      return makeError("cannot create a file like '" + model + "': " + code.message());
    static_cast<void>(sys::Process::SafelyCloseFileDescriptor(descriptor));
    sys::RemoveFileOnSignal(result.file);
    return result;
  }
  TemporaryFile(TemporaryFile &&other) noexcept : file(std::move(other.file)) {
    other.file.clear();
  }
  ~TemporaryFile() {
    if (file.empty())
      return;
    static_cast<void>(fs::remove(file));
    sys::DontRemoveFileOnSignal(file);
  }

  StringRef name() const { return file; }

private:
  TemporaryFile() = default;
  SmallString<128> file;
};

struct Driver {
  std::string program;
  std::vector<std::string> arguments;
};

} // namespace

/// Finds a compiler driver that links C++, and uses lld if it is installed. lld writes through a
/// memory mapping regardless of its flags, so a full disk terminates it with SIGBUS. lld runs with
/// one thread: if two threads receive the signal, the second terminates lld before the first has
/// removed the temporary file.
static Expected<Driver> findDriver() {
  std::string versioned = "clang++-" + std::to_string(LLVM_VERSION_MAJOR);
  for (StringRef name : {StringRef(versioned), StringRef("clang++"), StringRef("c++"),
                         StringRef("g++"), StringRef("cc")}) {
    ErrorOr<std::string> program = sys::findProgramByName(name);
    if (!program)
      continue;
    Driver driver{*program, {}};
    std::vector<StringRef> folders;
#ifdef MTC_LLVM_BINARIES
    folders.push_back(MTC_LLVM_BINARIES);
#endif
    if (ErrorOr<std::string> lld = sys::findProgramByName("ld.lld", folders))
      driver.arguments = {"-fuse-ld=lld", "-Wl,--threads=1", "-B" + path::parent_path(*lld).str()};
    else if (sys::findProgramByName("ld.lld"))
      driver.arguments = {"-fuse-ld=lld", "-Wl,--threads=1"};
#ifdef MTC_PROGRAM_SANITIZERS
    driver.arguments.push_back(MTC_PROGRAM_SANITIZERS);
#endif
    return driver;
  }
  return makeError("no linker: none of " + versioned +
                   ", clang++, c++, g++, cc is on PATH; install clang or gcc");
}

static Expected<std::vector<std::string>> findArchives(ArrayRef<std::string> names,
                                                       std::string folder) {
  if (folder.empty()) {
    SmallString<128> beside(
        path::parent_path(fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&findArchives))));
    path::append(beside, "..", "lib");
    path::remove_dots(beside, /*remove_dot_dot=*/true);
    folder = beside.str();
  }
  std::vector<std::string> archives;
  for (const std::string &name : names) {
    SmallString<128> file(folder);
    path::append(file, name);
    if (!fs::exists(file))
      return makeError("the runtime library '" + file +
                       "' is missing; build or install mtc as a whole");
    archives.push_back(file.str().str());
  }
  return archives;
}

static Error write(StringRef bytes, StringRef file) {
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

/// Returns whether the linker failed because the disk is full, which terminates lld with SIGBUS.
static bool isOfFullDisk(StringRef said, StringRef output, uint64_t least) {
  ErrorOr<fs::space_info> space = fs::disk_space(path::parent_path(output));
  return said.contains("Bus error") || said.contains("No space left on device") ||
         (space && space->available < least);
}

Error mtc::linkProgram(const MemoryBuffer &archive, StringRef output, const LinkInputs &inputs,
                       StringRef libraryFolder) {
  Expected<Driver> driver = findDriver();
  if (!driver)
    return driver.takeError();
  Expected<std::vector<std::string>> archives = findArchives(inputs.archives, libraryFolder.str());
  if (!archives)
    return archives.takeError();
  std::vector<std::string> libraries;
  libraries.reserve(inputs.libraries.size());
  for (const std::string &name : inputs.libraries)
    libraries.push_back("-l" + name);

  Expected<TemporaryFile> code = TemporaryFile::create(output + "-%%%%%%%%.a");
  if (!code)
    return code.takeError();
  if (Error error = write(archive.getBuffer(), code->name()))
    return error;
  // The log is stored in the system's temporary folder, so that it is available if the output's
  // disk is full.
  SmallString<128> folder;
  path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  Expected<TemporaryFile> messages = TemporaryFile::create(folder + "/mtc-link-%%%%%%%%.log");
  if (!messages)
    return messages.takeError();

  std::vector<StringRef> arguments{driver->program};
  arguments.insert(arguments.end(), driver->arguments.begin(), driver->arguments.end());
  arguments.insert(arguments.end(), {"-o", output});
  arguments.insert(arguments.end(),
                   {"-Wl,--whole-archive", code->name(), "-Wl,--no-whole-archive"});
  // The runtime's core and the target's archives depend on each other.
  arguments.push_back("-Wl,--start-group");
  arguments.insert(arguments.end(), archives->begin(), archives->end());
  arguments.push_back("-Wl,--end-group");
  arguments.insert(arguments.end(), libraries.begin(), libraries.end());

  std::optional<StringRef> redirects[] = {std::nullopt, messages->name(), messages->name()};
  std::string failure;
  if (sys::ExecuteAndWait(driver->program, arguments, std::nullopt, redirects, 0, 0, &failure) !=
      0) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> text = MemoryBuffer::getFile(messages->name());
    StringRef said = text ? (*text)->getBuffer() : StringRef();
    if (isOfFullDisk(said, output, archive.getBufferSize()))
      return makeError("cannot be written: No space left on device");
    return makeError("linking with " + driver->program + " failed" +
                     (failure.empty() ? "" : " (" + failure + ")") + ":\n" + said);
  }
  // The program gets the permissions of the umask, regardless of the mode of the file that the
  // linker overwrote.
  if (std::error_code error =
          fs::setPermissions(output, static_cast<fs::perms>(0777 & ~fs::getUmask())))
    return makeError("the program cannot be made executable: " + error.message());
  return Error::success();
}
