//===- Errors.cpp - Errors and exit codes of the tools ----------------------------------------===//

#include "support/compiler/Errors.h"

#include "support/terminal/printable.h"

#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;
using namespace mtc;
using namespace mtc::tool;

char SystemFault::ID = 0;

Error mtc::tool::makeUserError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

Error mtc::tool::makeSystemFault(const Twine &message) {
  return make_error<SystemFault>(message.str());
}

Error mtc::tool::makeWriteError(const Twine &what, std::error_code code) {
  std::string message = (what + ": cannot be written: " + code.message()).str();
  for (std::errc ofName : {std::errc::no_such_file_or_directory, std::errc::permission_denied,
                           std::errc::operation_not_permitted, std::errc::not_a_directory,
                           std::errc::is_a_directory, std::errc::read_only_file_system,
                           std::errc::filename_too_long, std::errc::too_many_symbolic_link_levels,
                           std::errc::file_exists, std::errc::text_file_busy})
    if (code == ofName)
      return makeUserError(message);
  return makeSystemFault(message);
}

int mtc::tool::report(StringRef tool, Error error) {
  int code = exitDone;
  handleAllErrors(std::move(error), [&](const ErrorInfoBase &each) {
    WithColor::error(errs(), tool) << terminal::printable(each.message()) << '\n';
    code = std::max<int>(code, each.isA<SystemFault>() ? exitSystemFault : exitUserInput);
  });
  return code;
}
