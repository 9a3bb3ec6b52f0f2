//===- LibraryFiles.cpp - Files of `mtc compile --emit library` -------------------------------===//

#include "driver/LibraryFiles.h"

#include "support/compiler/WrittenByMtc.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mtc;
using namespace mtc::tool;

namespace path = llvm::sys::path;

/// runtime/library/mtc_model.h, the header with `mtc_model` in place of the library's prefix.
static constexpr llvm::StringLiteral headerTemplate =
#include "driver/LibraryHeader.inc"
    ;

LibraryFiles mtc::tool::libraryFiles(llvm::StringRef output) {
  llvm::StringRef extension = path::extension(output), name = path::filename(output);
  const bool isNamed = extension == ".so" || extension == ".a";
  if (isNamed) {
    name = path::stem(name);
    name.consume_front("lib");
  }
  LibraryFiles files;
  files.names.isShared = extension != ".a";
  const llvm::StringRef folder = path::parent_path(output);
  auto inFolder = [&](const llvm::Twine &file) {
    llvm::SmallString<128> whole(folder);
    path::append(whole, file);
    return whole.str().str();
  };
  files.library = isNamed ? output.str() : inFolder("lib" + name + ".so");
  files.header = inFolder(name + ".h");
  files.weightsBase = inFolder(name);
  files.names.soname = path::filename(files.library).str();
  for (char c : name)
    files.names.prefix += llvm::isAlnum(c) || c == '_' ? c : '_';
  if (files.names.prefix.empty() || llvm::isDigit(files.names.prefix.front()))
    files.names.prefix.insert(0, "_");
  return files;
}

static std::string replaceAll(std::string text, llvm::StringRef from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string mtc::tool::libraryHeader(const LibraryNames &names, const LibraryFacts &facts) {
  std::string header = textMark("//");
  header += "// " + facts.summary + "\n";
  if (!names.isShared) {
    header += "// Link with";
    for (const std::string &library : facts.systemLibraries)
      header += " -l" + library;
    header += ".\n";
  }
  std::string text = replaceAll(headerTemplate.str(), "mtc_model", names.prefix);
  return header + replaceAll(std::move(text), "MTC_MODEL", llvm::StringRef(names.prefix).upper());
}
