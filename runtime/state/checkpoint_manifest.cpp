// Manifests as JSON.
#include "runtime/state/checkpoint_manifest.h"

#include "runtime/io/json_object.h"
#include "runtime/state/program_description.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {
namespace {

using Json = nlohmann::json;
constexpr const char *formatName = "mtc-checkpoint";
/// Version 1 had no checksum and no schedule_steps, version 2 no schedule and no validation,
/// version 3 no piece_bytes, version 4 no micro_steps, no program and no earlier steps, version 5
/// no normalization, augmentation and sampling, version 6 no classes and no grouped rows.
constexpr int formatVersion = 7, oldestVersion = 2;

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
  if (const Json version = manifest.value("version", Json());
      !version.is_number_integer() || version < oldestVersion || version > formatVersion)
    userError(path, ": is of version ", version.dump(), "; this program reads versions ",
              oldestVersion, " to ", formatVersion,
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

Json jsonOf(const ScheduleSettings &schedule) {
  Json json = {{"kind", schedule.kind},
               {"rate", schedule.rate},
               {"least", schedule.minRate},
               {"warmup", schedule.warmup},
               {"decay", schedule.decay}};
  if (!schedule.points.steps.empty()) {
    json["steps"] = schedule.points.steps;
    json["rates"] = schedule.points.rates;
  }
  return json;
}

Json jsonOf(const Normalizations &normalizations) {
  Json json = Json::object();
  for (const auto &[name, normalization] : normalizations) {
    Json &fields = json[name] = Json::object();
    auto add = [&](const char *key, const std::string &values) {
      if (!values.empty())
        fields[key] = values;
    };
    add("scale", scaleText(normalization.scale));
    add("mean", numbersText(normalization.mean));
    add("std", numbersText(normalization.std));
  }
  return json;
}

Json jsonOf(const ValidationState &validation) {
  return {{"step", validation.step},
          {"metric", validation.metric},
          {"best", validation.best ? Json(*validation.best) : Json()},
          {"best_step", validation.bestStep},
          {"since_best", validation.sinceBest}};
}

/// Reads the fields of a part of the manifest. Throws a user error that names a field that is
/// missing or out of range.
class Fields {
public:
  Fields(const std::string &path, const Json &json) : path(path), json(json) {}

  int64_t natural(const char *key, uint64_t max) const {
    const Json number = json.value(key, Json());
    if (!number.is_number_unsigned() || number.get<uint64_t>() > max)
      userError(path, ": '", key, "' is ", number.dump(), "; expected a whole number of at most ",
                max);
    return static_cast<int64_t>(number.get<uint64_t>());
  }
  /// Returns a number that may be absent, which is 0.
  int64_t optionalNatural(const char *key, uint64_t max) const {
    return json.contains(key) ? natural(key, max) : 0;
  }
  double rate(const char *key) const {
    const Json number = json.value(key, Json());
    if (!number.is_number() || !(number.get<double>() >= 0))
      userError(path, ": '", key, "' is ", number.dump(), "; expected a rate of at least 0");
    return number.get<double>();
  }
  std::string string(const char *key) const {
    if (!json.value(key, Json()).is_string())
      userError(path, ": lacks '", key, "'");
    return json[key].get<std::string>();
  }
  std::vector<std::string> strings(const char *key) const {
    const Json list = json.value(key, Json());
    if (!list.is_array() ||
        !std::all_of(list.begin(), list.end(), [](const Json &each) { return each.is_string(); }))
      userError(path, ": '", key, "' is ", list.dump(), "; expected a list of strings");
    return list.get<std::vector<std::string>>();
  }
  bool boolean(const char *key) const {
    if (!json.value(key, Json()).is_boolean())
      userError(path, ": lacks '", key, "'");
    return json[key].get<bool>();
  }
  const Json &object(const char *key) const {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_object())
      userError(path, ": lacks '", key, "'");
    return *found;
  }

private:
  const std::string &path;
  const Json &json;
};

/// The limit keeps the number of samples since the first step within 64 bits.
constexpr uint64_t maxSteps = uint64_t{1} << 48;

/// A field of the manifest with a number of each divided tensor.
struct SizeField {
  const char *name;
  int64_t PieceSizes::*number;
  uint64_t maximum;
};
constexpr SizeField sizeFields[] = {{"piece_bytes", &PieceSizes::bytes, INT64_MAX},
                                    {"parts", &PieceSizes::parts, uint64_t{1} << 20},
                                    {"share_bytes", &PieceSizes::bytesOfShare, INT64_MAX},
                                    {"block_bytes", &PieceSizes::bytesOfBlock, INT64_MAX}};

ScheduleSettings parseSchedule(const std::string &path, const Json &json) {
  const Fields fields(path, json);
  ScheduleSettings schedule;
  schedule.kind = fields.string("kind");
  const abi::Schedule *kind = abi::findSchedule(schedule.kind.c_str());
  if (!kind)
    userError(path, ": the schedule '", schedule.kind, "' is not known to this program");
  schedule.rate = fields.rate("rate");
  schedule.minRate = fields.rate("least");
  schedule.warmup = fields.natural("warmup", INT64_MAX);
  schedule.decay = fields.natural("decay", INT64_MAX);
  if (!kind->hasPoints)
    return schedule;
  std::vector<std::string> entries;
  const Json steps = json.value("steps", Json()), rates = json.value("rates", Json());
  for (size_t i = 0; i < std::min(steps.size(), rates.size()); ++i)
    entries.push_back(steps[i].dump() + ":" + rates[i].dump());
  const auto parsed = abi::parsePoints(entries);
  if (!parsed || entries.empty() || steps.size() != rates.size())
    userError(path, ": 'steps' are ", steps.dump(), " and 'rates' ", rates.dump(),
              "; expected increasing steps, each with a rate");
  schedule.points = *parsed;
  return schedule;
}

Normalizations parseNormalizations(const std::string &path, const Json &json) {
  Normalizations normalizations;
  for (const auto &[name, fields] : json.items()) {
    Normalization &normalization = normalizations[name];
    auto read = [&](const char *key, const auto &parse, auto &values) {
      if (!fields.is_object() || !fields.contains(key))
        return;
      try {
        values = parse(fields[key].template get<std::string>());
      } catch (const std::exception &problem) {
        userError(path, ": '", key, "' of '", name, "' is ", fields[key].dump(), ": ",
                  problem.what());
      }
    };
    read("scale", parseScale, normalization.scale);
    read("mean", parseMean, normalization.mean);
    read("std", parseStd, normalization.std);
  }
  return normalizations;
}

Augmentations parseAugmentations(const std::string &path, const Json &json) {
  Augmentations augmentations;
  for (const auto &[name, list] : json.items())
    try {
      augmentations[name] = parseAugmentation(list.get<std::string>());
    } catch (const std::exception &problem) {
      userError(path, ": 'augmentation' of '", name, "' is ", list.dump(), ": ", problem.what());
    }
  return augmentations;
}

Settings parseSettings(const std::string &path, const Json &json) {
  Settings settings;
  for (const auto &[name, value] : json.items()) {
    if (!value.is_number())
      userError(path, ": 'settings' has '", name, "': ", value.dump(), "; expected a number");
    settings[name] = value.get<double>();
  }
  return settings;
}

ValidationState parseValidation(const std::string &path, const Json &json) {
  const Fields fields(path, json);
  ValidationState validation;
  validation.step = fields.natural("step", maxSteps);
  validation.metric = fields.string("metric");
  if (const Json best = json.value("best", Json()); best.is_number())
    validation.best = best.get<double>();
  validation.bestStep = fields.natural("best_step", maxSteps);
  validation.sinceBest = fields.natural("since_best", maxSteps);
  return validation;
}

Json jsonOf(const EarlierSteps &steps) {
  Json json = {
      {"last_step", steps.lastStep}, {"batch", steps.batch}, {"micro_steps", steps.microSteps}};
  if (steps.samples)
    json["samples_per_step"] = steps.samples;
  if (steps.stepsPerEpoch)
    json["steps_per_epoch"] = steps.stepsPerEpoch;
  return json;
}

EarlierSteps parseEarlier(const std::string &path, const Json &json, const char *lastStep) {
  if (!json.is_object())
    userError(path, ": 'earlier_steps' contains ", json.dump(), "; expected objects");
  const Fields fields(path, json);
  const EarlierSteps steps = {fields.natural(lastStep, maxSteps),
                              fields.natural("batch", INT64_MAX),
                              fields.natural("micro_steps", INT64_MAX),
                              fields.optionalNatural("samples_per_step", INT64_MAX),
                              fields.optionalNatural("steps_per_epoch", maxSteps)};
  int64_t samples = steps.samples;
  if (steps.batch < 1 || steps.microSteps < 1 ||
      (!samples && __builtin_mul_overflow(steps.batch, steps.microSteps, &samples)) ||
      __builtin_mul_overflow(samples, maxSteps, &samples))
    userError(path, ": steps of ", steps.microSteps, " micro-steps of ", steps.batch,
              " samples; expected 1 or more, whose number fits into 64 bits");
  return steps;
}

/// Appends a range of earlier steps, which must follow the ranges before it.
void addEarlier(const std::string &path, const EarlierSteps &steps, TrainingState &state) {
  const int64_t before = state.earlier.empty() ? 0 : state.earlier.back().lastStep;
  if (steps.lastStep < before || steps.lastStep > state.step)
    userError(path, ": 'earlier_steps' end at step ", steps.lastStep, " after step ", before,
              ", expected ascending steps of at most ", state.step);
  if (steps.lastStep > before)
    state.earlier.push_back(steps);
}

std::string batchText(int64_t batch, int64_t microSteps) {
  return microSteps > 1 ? text(microSteps, " x ", batch) : text(batch);
}

/// Returns the steps of the checkpoint's program, which differs from this program only in its
/// batch. Throws a user error if there are other differences.
EarlierSteps parseOtherBatch(const MtcProgram &program, const std::string &path, const Json &json) {
  auto refuse = [&](const std::string &how) {
    userError(path, ": the checkpoint belongs to another program: ", how,
              ". Resume it with the program that wrote it, or give its weights to this one with "
              "--weights");
  };
  if (json.contains("settings"))
    if (const std::string problem =
            checkSettings(program, parseSettings(path, Fields(path, json).object("settings")));
        !problem.empty())
      userError(path, ": ", problem);
  const Json own = program.batch, batch = json.value("batch", Json());
  if (!json.contains("micro_steps"))
    refuse(text("its variables, shapes, batch or optimizer differ (batch ", batch.dump(),
                ", this program's is ", own.dump(), "; fingerprint ",
                json.value("fingerprint", Json()).dump(), ", this program's is \"",
                program.fingerprint, "\")"));
  const std::string how =
      describeDifferences(json.value("program", Json::object()), describeProgram(program));
  if (!how.empty())
    refuse(how);
  const EarlierSteps steps = parseEarlier(path, json, "step");
  if (steps.batch == program.batch && steps.microSteps == program.accumulation.micro_steps)
    refuse(text("its fingerprint is ", json.value("fingerprint", Json()).dump(),
                ", this program's is \"", program.fingerprint, "\""));
  return steps;
}

} // namespace

std::optional<int64_t> stepOfManifest(const std::string &text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != formatName)
    return std::nullopt;
  const Json step = json.value("step", Json());
  return step.is_number_unsigned() ? std::optional(step.get<int64_t>()) : std::nullopt;
}

PieceChecksum CheckpointManifest::emptyChecksumOf(const std::string &tensor) const {
  const auto found = pieces.find(tensor);
  return PieceChecksum(found == pieces.end() ? PieceSizes() : found->second);
}

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
               {"micro_steps", program.accumulation.micro_steps},
               {"program", describeProgram(program)},
               {"seed", state.seed},
               {"shuffle", state.shuffle},
               {"last_batch", nameOf(state.lastBatch)},
               {"schedule_steps", state.scheduleSteps},
               {"file", manifest.file},
               {"bytes", manifest.bytes},
               {"checksums", manifest.checksums}};
  for (const auto &[name, sizes] : manifest.pieces)
    for (const SizeField &field : sizeFields)
      if (const int64_t number = sizes.*field.number)
        json[field.name][name] = number;
  if (state.schedule)
    json["schedule"] = jsonOf(*state.schedule);
  if (!state.settings.empty())
    json["settings"] = state.settings;
  if (!state.normalizations.empty())
    json["normalization"] = jsonOf(state.normalizations);
  for (const auto &[name, augmentation] : state.augmentations)
    json["augmentation"][name] = augmentationText(augmentation);
  if (!state.classes.empty())
    json["classes"] = state.classes;
  if (!state.sampling.empty())
    json["sampling"] = state.sampling;
  if (state.samplesPerStep)
    json["samples_per_step"] = state.samplesPerStep;
  if (state.isGrouped)
    json["steps_per_epoch"] = state.stepsPerEpoch;
  if (state.validation.step)
    json["validation"] = jsonOf(state.validation);
  for (const EarlierSteps &steps : state.earlier)
    json["earlier_steps"].push_back(jsonOf(steps));
  // Invalid UTF-8, such as in a model's name, is replaced on output. Parsing the text makes the
  // checksum that of the values that a reader obtains.
  json = Json::parse(textOf(json));
  json["checksum"] = checksumOf(json);
  return textOf(json);
}

CheckpointManifest parseManifest(const MtcProgram &program, const std::string &path,
                                 const std::string &text) {
  const Json json = parseUnaltered(path, text);
  const Fields fields(path, json);
  CheckpointManifest manifest;
  TrainingState &state = manifest.state;
  state.step = fields.natural("step", maxSteps);
  state.seed = static_cast<uint64_t>(fields.natural("seed", INT64_MAX));
  state.scheduleSteps = fields.natural("schedule_steps", INT64_MAX);
  manifest.bytes = fields.natural("bytes", INT64_MAX);
  state.shuffle = fields.boolean("shuffle");
  const Json last = json.value("last_batch", Json());
  if (!last.is_string() || !lastBatchOfName(last.get<std::string>()))
    userError(path, ": 'last_batch' is ", last.dump(), "; expected wrap, drop or mask");
  state.lastBatch = *lastBatchOfName(last.get<std::string>());
  if (json.contains("schedule"))
    state.schedule = parseSchedule(path, fields.object("schedule"));
  if (json.contains("settings"))
    state.settings = parseSettings(path, fields.object("settings"));
  if (json.contains("normalization"))
    state.normalizations = parseNormalizations(path, fields.object("normalization"));
  if (json.contains("augmentation"))
    state.augmentations = parseAugmentations(path, fields.object("augmentation"));
  if (json.contains("classes"))
    state.classes = fields.strings("classes");
  if (json.contains("sampling"))
    state.sampling = fields.string("sampling");
  state.stepsPerEpoch = fields.optionalNatural("steps_per_epoch", maxSteps);
  state.isGrouped = state.stepsPerEpoch > 0;
  if (json.contains("validation"))
    state.validation = parseValidation(path, fields.object("validation"));
  if (const auto earlier = json.find("earlier_steps"); earlier != json.end())
    for (const Json &each : *earlier)
      addEarlier(path, parseEarlier(path, each, "last_step"), state);
  if (json.value("fingerprint", Json()) != program.fingerprint) {
    const EarlierSteps before = parseOtherBatch(program, path, json);
    state.stepsPerEpoch = 0; // That of this program differs.
    addEarlier(path, before, state);
    manifest.batchChange = runtime::text(
        "up to step ", before.lastStep, " the batch was ",
        batchText(before.batch, before.microSteps), "; from now on it is ",
        batchText(program.batch, program.accumulation.micro_steps),
        ". The run goes on after the samples that were read; the learning-rate schedule counts "
        "steps, whatever their batch");
  }
  manifest.file = fields.string("file");
  if (!isCheckpointFileName(manifest.file))
    userError(path, ": names the file '", manifest.file, "', which is not one of a checkpoint");
  for (const auto &[name, checksum] : fields.object("checksums").items())
    manifest.checksums[name] = checksum.is_string() ? checksum.get<std::string>() : "";
  for (const SizeField &field : sizeFields) {
    if (!json.contains(field.name))
      continue;
    const Fields all(path, fields.object(field.name));
    for (const auto &[name, number] : json[field.name].items())
      manifest.pieces[name].*field.number = all.natural(name.c_str(), field.maximum);
  }
  return manifest;
}

} // namespace mtc::runtime
