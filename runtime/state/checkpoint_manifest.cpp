// Manifests as JSON.
#include "runtime/state/checkpoint_manifest.h"

#include "runtime/io/checksum.h"
#include "runtime/io/json_object.h"
#include "runtime/support/failure.h"

#include <cstring>

namespace mtc::runtime {
namespace {

using Json = nlohmann::json;
constexpr const char *formatName = "mtc-checkpoint";
/// Version 1 had no checksum and no schedule_steps.
constexpr int formatVersion = 2;

std::string textOf(const Json &manifest) {
  return manifest.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string checksumOf(const Json &manifest) {
  const std::string text = textOf(manifest);
  Checksum sum;
  sum.add(text.data(), static_cast<int64_t>(text.size()));
  return checksumText(sum.value());
}

/// Returns the JSON object of an unmodified manifest of this version.
Json parseUnaltered(const std::string &path, const std::string &text) {
  Json manifest = parseJsonObject(path + ":", text);
  if (manifest.value("format", Json()) != formatName)
    userError(path, ": is not the manifest of a checkpoint");
  if (const Json version = manifest.value("version", Json()); version != formatVersion)
    userError(path, ": is of version ", version.dump(), "; this program reads version ",
              formatVersion,
              version == 1 ? ". The checkpoint was saved by a program of an earlier mtc: resume it "
                             "with that program, or give its data file to this one with --weights"
                           : "");
  const Json checksum = manifest.value("checksum", Json());
  manifest.erase("checksum");
  if (checksum != checksumOf(manifest))
    userError(path, ": was altered since it was written, or is damaged: its checksum is ",
              checksum.dump(), ", its content's is \"", checksumOf(manifest), "\"");
  return manifest;
}

} // namespace

std::string checkpointFileName(int64_t step, int attempt) {
  return text("step-", step, "-", attempt, ".safetensors");
}

bool isCheckpointFileName(const std::string &name) {
  auto has = [&](size_t at, const char *part) {
    return name.compare(at, std::strlen(part), part) == 0;
  };
  auto endsWith = [&](const char *ending) {
    return name.size() >= std::strlen(ending) && has(name.size() - std::strlen(ending), ending);
  };
  if (endsWith(".tmp"))
    return has(0, ".step-") || has(0, ".manifest.json.");
  return has(0, "step-") && endsWith(".safetensors") &&
         name.find_first_not_of("0123456789-", 5) == name.size() - std::strlen(".safetensors");
}

std::string writeManifest(const MtcProgram &program, const CheckpointManifest &manifest) {
  const TrainingState &state = manifest.state;
  Json json = {{"format", formatName},
               {"version", formatVersion},
               {"compiler_version", program.compiler_version},
               {"model", program.model_name},
               {"fingerprint", program.fingerprint},
               {"step", state.step},
               {"batch", program.batch},
               {"seed", state.seed},
               {"shuffle", state.shuffle},
               {"last_batch", nameOf(state.lastBatch)},
               {"schedule_steps", state.scheduleSteps},
               {"file", manifest.file},
               {"bytes", manifest.bytes},
               {"checksums", manifest.checksums}};
  // Invalid UTF-8, such as in a model's name, is replaced on output. Parsing the text makes the
  // checksum that of the values that a reader obtains.
  json = Json::parse(textOf(json));
  json["checksum"] = checksumOf(json);
  return textOf(json);
}

CheckpointManifest parseManifest(const MtcProgram &program, const std::string &path,
                                 const std::string &text) {
  const Json json = parseUnaltered(path, text);
  if (const Json fingerprint = json.value("fingerprint", Json());
      fingerprint != program.fingerprint)
    userError(path,
              ": the checkpoint belongs to another program: its variables, shapes or optimizer "
              "differ (fingerprint ",
              fingerprint.dump(), ", this program's is \"", program.fingerprint,
              "\"). Resume it with the program that wrote it, or give its weights to this one with "
              "--weights");
  auto natural = [&](const char *key, uint64_t max) {
    const Json number = json.value(key, Json());
    if (!number.is_number_unsigned() || number.get<uint64_t>() > max)
      userError(path, ": '", key, "' is ", number.dump(), "; expected a whole number of at most ",
                max);
    return number.get<uint64_t>();
  };
  auto lacks = [&](const char *key) { userError(path, ": lacks '", key, "'"); };
  CheckpointManifest manifest;
  // The limit keeps the number of samples since the first step within 64 bits.
  constexpr uint64_t maxSteps = uint64_t{1} << 48;
  manifest.state.step = static_cast<int64_t>(natural("step", maxSteps));
  manifest.state.seed = natural("seed", INT64_MAX);
  manifest.state.scheduleSteps = static_cast<int64_t>(natural("schedule_steps", INT64_MAX));
  manifest.bytes = static_cast<int64_t>(natural("bytes", INT64_MAX));
  if (!json.value("shuffle", Json()).is_boolean())
    lacks("shuffle");
  manifest.state.shuffle = json["shuffle"].get<bool>();
  const Json last = json.value("last_batch", Json());
  if (!last.is_string() || !lastBatchOfName(last.get<std::string>()))
    userError(path, ": 'last_batch' is ", last.dump(), "; expected wrap, drop or mask");
  manifest.state.lastBatch = *lastBatchOfName(last.get<std::string>());
  if (!json.value("file", Json()).is_string())
    lacks("file");
  manifest.file = json["file"].get<std::string>();
  if (!isCheckpointFileName(manifest.file))
    userError(path, ": names the file '", manifest.file, "', which is not one of a checkpoint");
  if (!json.value("checksums", Json()).is_object())
    lacks("checksums");
  for (const auto &[name, checksum] : json["checksums"].items())
    manifest.checksums[name] = checksum.is_string() ? checksum.get<std::string>() : "";
  return manifest;
}

} // namespace mtc::runtime
