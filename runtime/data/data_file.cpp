// Opens data files by their extension.
#include "runtime/data/data_file.h"

#include "runtime/data/token_stream.h"
#include "runtime/io/npy.h"
#include "runtime/io/safetensors.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <optional>

namespace mtc::runtime {
namespace {

/// A name `PATH` or `PATH:CHOICE`, where PATH has the extension `ending`.
struct Name {
  std::string path, choice;
};

std::optional<Name> split(const std::string &file, const std::string &ending) {
  if (file.size() >= ending.size() &&
      file.compare(file.size() - ending.size(), ending.size(), ending) == 0)
    return Name{file, ""};
  size_t colon = file.rfind(ending + ":");
  if (colon == std::string::npos)
    return std::nullopt;
  colon += ending.size();
  return Name{file.substr(0, colon), file.substr(colon + 1)};
}

/// Returns the names of the first tensors, for messages.
std::string listNames(const SafetensorsFile &file) {
  constexpr size_t maximum = 10;
  std::string names;
  size_t count = 0;
  for (const auto &[tensor, array] : file.tensors()) {
    if (count++ == maximum)
      return names + " and " + std::to_string(file.tensors().size() - maximum) + " more";
    names += (names.empty() ? "" : ", ") + tensor;
  }
  return names;
}

ArrayOnDisk openSafetensor(const MtcInput &input, const Name &name) {
  SafetensorsFile file(name.path);
  if (!name.choice.empty()) {
    if (const ArrayOnDisk *found = file.find(name.choice))
      return *found;
  } else if (file.tensors().size() == 1) {
    return file.tensors().begin()->second;
  } else if (const ArrayOnDisk *found = file.find(input.tensor.name)) {
    return *found;
  }
  const std::string names = listNames(file);
  if (name.choice.empty())
    userError(name.path, ": holds several tensors (", names, "); choose one with ", name.path,
              ":TENSOR");
  userError(name.path, ": has no tensor '", name.choice, "'; it holds ",
            names.empty() ? "none" : names);
}

DataFile openStream(const MtcInput &input, const Name &name, const std::string &flag) {
  std::optional<MtcType> type = integerTypeOfName(name.choice);
  if (!name.choice.empty() && !type)
    userError(name.path, ":", name.choice,
              ": expected u8, u16, u32, u64, i8, i16, i32 or i64 after the colon");
  TokenStream stream = openTokens(name.path, type, input, flag);
  return {std::move(stream.tokens), true, stream.isTypeAssumed};
}

} // namespace

DataFile openDataFile(const MtcInput &input, const std::string &file, const std::string &flag) {
  if (std::optional<Name> name = split(file, ".npy"); name && name->choice.empty())
    return {openNpy(file)};
  if (std::optional<Name> name = split(file, ".bin"))
    return openStream(input, *name, flag);
  if (std::optional<Name> name = split(file, ".safetensors"))
    return {openSafetensor(input, *name)};
  userError(file, ": is no known data file; .npy, .safetensors (FILE:TENSOR) and token .bin "
                  "(FILE:TYPE) files are");
}

} // namespace mtc::runtime
