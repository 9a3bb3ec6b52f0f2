// Reads manifests of checkpoints: the input itself, and the input with a valid checksum.
#include "runtime/io/checksum.h"
#include "runtime/state/checkpoint_manifest.h"
#include "runtime/support/failure.h"

#include <nlohmann/json.hpp>

extern const MtcProgram mtc_program;

using namespace mtc::runtime;

static void parse(const std::string &text) {
  try {
    CheckpointManifest manifest = parseManifest(mtc_program, "manifest.json", text);
    parseManifest(mtc_program, "manifest.json", writeManifest(mtc_program, manifest));
  } catch (const Failure &failure) {
    if (failure.exitCode() != exitUserInput)
      throw;
  }
}

/// The checksum covers the written text except the checksum itself.
static std::string withChecksum(nlohmann::json manifest) {
  auto textOf = [&] {
    return manifest.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  };
  manifest.erase("checksum");
  const std::string text = textOf();
  Checksum sum;
  sum.add(text.data(), static_cast<int64_t>(text.size()));
  manifest["checksum"] = checksumText(sum.value());
  return textOf();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  parse(text);
  nlohmann::json manifest = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (manifest.is_object())
    parse(withChecksum(std::move(manifest)));
  return 0;
}
