//===- TrainingSummary.cpp - Summary of the trained parameters --------------------------------===//

#include "frontend/TrainingSummary.h"

#include "support/compiler/Lists.h"
#include "support/compiler/Problems.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace mtc {

namespace {

std::string shapeText(ArrayRef<int64_t> shape) {
  auto extents = llvm::map_range(shape, [](int64_t extent) { return std::to_string(extent); });
  return "[" + llvm::join(extents, ", ") + "]";
}

std::string asItIs(const std::string &name) { return name; }

/// Formats a count as 1 539, 57.3 K or 11.2 M.
std::string magnitude(int64_t count) {
  if (count < 10000)
    return count < 1000 ? std::to_string(count)
                        : std::to_string(count / 1000) + " " +
                              llvm::formatv("{0,0-3:d}", count % 1000).str();
  bool isMillions = count >= 1000000;
  return llvm::formatv("{0:F1} {1}", static_cast<double>(count) / (isMillions ? 1e6 : 1e3),
                       isMillions ? "M" : "K");
}

std::string describe(const TrainableConstant &constant) {
  std::string text = quoted(constant.name) + " " + shapeText(constant.shape);
  return constant.moduleName.empty() ? text : text + " (" + constant.moduleName + " in the module)";
}

std::string describeInferred(const TrainingSummary::Inferred &inferred) {
  return quoted(inferred.name) + " " + shapeText(inferred.shape) + " (" + inferred.reason + ")";
}

} // namespace

std::string TrainingSummary::text() const {
  auto count = [](size_t number, const char *singular, const char *plural) {
    return std::to_string(number) + (number == 1 ? singular : plural);
  };
  return std::to_string(trained) + " of " + count(parameters, " parameter", " parameters") +
         " trained (" + std::to_string(trainedElements) + " of " +
         count(static_cast<size_t>(elements), " element", " elements") + "), " +
         count(constants.size(), " constant looks", " constants look") + " trainable";
}

std::vector<std::string> TrainingSummary::notes() const {
  std::vector<std::string> result;
  if (!leftOut.empty() || literals > 0) {
    std::string numbers =
        std::to_string(literals) + (literals == 1 ? " literal number" : " literal numbers");
    result.push_back("taken for constants, not trained: " + listed(leftOut, describeInferred) +
                     (literals == 0 ? "" : (leftOut.empty() ? "" : ", and ") + numbers) +
                     "; use --train with a full name to train one");
  }
  if (!doubtful.empty())
    result.push_back("trained, but possibly constants: " + listed(doubtful, describeInferred) +
                     "; use --freeze to keep one fixed");
  if (!movingStatistics.empty())
    result.push_back("assumed to be moving statistics of batch normalizations, not trained: " +
                     listed(movingStatistics, quoted) + "; use --train to train them");
  if (!unreached.empty())
    result.push_back("no output depends on these parameters, not trained: " +
                     listed(unreached, quoted));
  if (!renamed.empty())
    result.push_back("parameters under the names of the file, since an optimizer dropped those of "
                     "the module: " +
                     listed(renamed, quoted));
  return result;
}

std::vector<std::string> TrainingSummary::warnings() const {
  std::vector<std::string> result;
  std::string exportAgain = remedy.empty() ? "" : ". To train them, export with " + remedy;
  if (!constants.empty())
    result.push_back("constants used like parameters, not trained: " + listed(constants, describe) +
                     ". The exporter computed or stored them as constants; use --train to train "
                     "only the parameters that match" +
                     exportAgain);
  if (!missing.empty())
    result.push_back("module parameters missing in the file: " + listed(missing, asItIs) +
                     ". The exporter dropped or folded them; they are not trained" + exportAgain);
  // Without its optimizations, the torch.export-based exporter writes batch normalizations in
  // inference form.
  if (!foldedNorms.empty())
    result.push_back("batch normalizations of " + listed(foldedNorms, quoted) +
                     " folded into convolutions by the exporter; the folded weights are trained, "
                     "without batch statistics" +
                     exportAgain +
                     (exportAgain.empty() ? "" : " and compile with --batch-norm train"));
  if (!foldedConvolutions.empty())
    result.push_back(
        "convolution weights folded by the exporter, such as with batch normalizations: " +
        listed(foldedConvolutions, quoted) +
        ". The folded weights are trained, without batch statistics" + exportAgain);
  if (!computed.empty())
    result.push_back("initializers computed by the exporter from the module's parameters: " +
                     listed(computed, asItIs) +
                     ". The computed values are trained instead, so training steps differ" +
                     exportAgain);
  return result;
}

bool TrainingSummary::trainsLessThanHalf() const {
  return 2 * trainedElements < elements - untrainedElements + constantElements;
}

std::string TrainingSummary::refusal() const {
  std::string text = "only " + magnitude(trainedElements) + " of " +
                     (missing.empty() ? "" : "about ") + magnitude(elements + constantElements) +
                     " weights are trained";
  std::vector<std::string> names;
  names.reserve(constants.size());
  for (const TrainableConstant &constant : constants)
    names.push_back(constant.moduleName.empty() ? constant.name : constant.moduleName);
  if (!names.empty())
    text += "; the file stores others as constants: " + listed(names, quoted);
  return text + ". Use --train PATTERN to train them, or --freeze PATTERN to keep them fixed" +
         (remedy.empty() ? "" : "; or export with " + remedy);
}

json::Object TrainingSummary::toJson() const {
  json::Array looksTrainable;
  for (const TrainableConstant &constant : constants)
    looksTrainable.push_back(constant.name);
  return json::Object{{"parameters", static_cast<int64_t>(parameters)},
                      {"trained_parameters", static_cast<int64_t>(trained)},
                      {"elements", elements},
                      {"trained_elements", trainedElements},
                      {"looks_trainable", std::move(looksTrainable)},
                      {"unreached", json::Array(unreached)},
                      {"missing", json::Array(missing)}};
}

} // namespace mtc
