//===- Program.cpp - The program of a sweep ---------------------------------------------------===//

#include "tools/mtc/sweep/Program.h"

#include "support/compiler/Errors.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace mtc;
using namespace mtc::tool;
using llvm::StringRef;

/// Runs the program with `--describe` and returns its output; "" if it fails.
static std::string describe(StringRef path) {
  llvm::SmallString<128> output;
  if (llvm::sys::fs::createTemporaryFile("mtc-sweep", "json", output))
    return "";
  const llvm::FileRemover remover(output);
  const std::optional<StringRef> redirects[] = {StringRef(""), StringRef(output), StringRef("")};
  if (llvm::sys::ExecuteAndWait(path, {path, "--describe"}, std::nullopt, redirects))
    return "";
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> text = llvm::MemoryBuffer::getFile(output);
  return text ? (*text)->getBuffer().str() : "";
}

llvm::Expected<SweptProgram> SweptProgram::find(const std::string &name) {
  if (!llvm::sys::fs::can_execute(name))
    return makeUserError(name + ": not a program that can be run; expected one that mtc compile "
                                "has written");
  llvm::SmallString<128> absolute(name);
  if (std::error_code error = llvm::sys::fs::make_absolute(absolute))
    return makeUserError(name + ": " + error.message());
  SweptProgram program;
  program.path = absolute.str().str();
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(describe(program.path));
  const llvm::json::Object *object = parsed ? parsed->getAsObject() : nullptr;
  llvm::consumeError(parsed.takeError());
  const llvm::json::Array *flags = object ? object->getArray("flags") : nullptr,
                          *metrics = object ? object->getArray("metrics") : nullptr;
  if (!flags || !metrics)
    return makeUserError(name + ": does not list its flags with --describe; expected a program "
                                "that this version of mtc has compiled");
  for (const llvm::json::Value &each : *flags)
    if (const llvm::json::Object *flag = each.getAsObject();
        flag && flag->getBoolean("writes_files").value_or(false))
      program.outputFlags.insert(flag->getString("name").value_or(""));
  for (const llvm::json::Value &each : *metrics)
    if (const llvm::json::Object *metric = each.getAsObject())
      program.isHigherBetter[metric->getString("name").value_or("")] =
          metric->getBoolean("is_higher_better").value_or(false);
  return program;
}

bool SweptProgram::ranksHigher(StringRef metric) const {
  metric.consume_front(validationPrefix);
  return isHigherBetter.lookup(metric);
}
