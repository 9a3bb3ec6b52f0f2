//===- ExporterMetadata.cpp - Module information from exporter metadata -----------------------===//

#include "frontend/onnx/reader/ExporterMetadata.h"

#include "frontend/onnx/dialect/Onnx.h"
#include "frontend/onnx/reader/Functions.h"
#include "frontend/onnx/reader/MetadataKeys.h"
#include "frontend/onnx/reader/NodeNames.h"
#include "support/compiler/Lists.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

constexpr StringRef signatureKey = "pkg.torch.export.ExportedProgram.graph_signature",
                    kindKey = "pkg.torch.export.graph_signature.InputSpec.kind",
                    foldedKey = "pkg.onnxscript.optimizer.folded_from",
                    fxKey = "pkg.torch.onnx.fx_node", stackKey = "pkg.torch.onnx.stack_trace",
                    ruleKey = "pkg.onnxscript.rewriter.rule_name";

constexpr StringRef crossEntropy = "aten.cross_entropy_loss.default";

template <typename Owner> StringRef metadata(const Owner &owner, StringRef key) {
  for (const auto &entry : owner.metadata_props())
    if (entry.key() == key)
      return entry.value();
  return {};
}

/// Returns the text after `args = (` in an FX node such as `…](args = (%x, %w), kwargs = {})`.
StringRef argumentsText(const ::onnx::NodeProto &node) {
  return metadata(node, fxKey).split("](args = (").second;
}

bool isNameCharacter(char c) { return isAlnum(c) || c == '_'; }

} // namespace

ExporterMetadata::ExporterMetadata(const ::onnx::ModelProto &model, Problems &problems)
    : paths(model.graph()) {
  if (StringRef text = metadata(model.graph(), signatureKey); !text.empty())
    readSignature(text);
  readValues(model.graph());
  adoptVariables(model.graph());
  readLosses(model.graph());
  if (StringRef text = metadata(model, moduleKey); !text.empty())
    findLostMarks(model, readModule(text, problems));
}

/// Parses lines `p_name: PARAMETER target='the.name'` and `b_name: BUFFER target='the.name'
/// persistent=True`. Lines of outputs are ignored.
void ExporterMetadata::readSignature(StringRef text) {
  hasList = true;
  for (StringRef line : llvm::split(text, '\n')) {
    auto [placeholder, rest] = line.split(": ");
    auto [kind, target] = rest.split(" target='");
    std::string name = target.split('\'').first.str();
    if (target.empty())
      continue;
    if (kind == "PARAMETER")
      parameterNames.push_back(name);
    else if (kind == "BUFFER" || kind == "CONSTANT_TENSOR")
      bufferNames.push_back(name);
    else
      continue;
    placeholders[placeholder] = std::move(name);
  }
}

/// Replaces the listed parameters of a Keras model by its lifted tensors. Keras keeps variables in
/// a ParameterDict, and its layers are not submodules. Lifted scalars are literals in the layers'
/// code.
void ExporterMetadata::adoptVariables(const ::onnx::GraphProto &graph) {
  auto isListed = [](StringRef name) { return name.contains(kerasVariables); };
  if (llvm::none_of(parameterNames, isListed))
    return;
  llvm::erase_if(parameterNames, isListed);
  StringSet<> scalars;
  for (const auto &tensor : graph.initializer())
    if (tensor.dims_size() == 0)
      scalars.insert(tensor.name());
  auto isVariable = [&](StringRef name) {
    return name.starts_with(liftedPrefix) && !scalars.contains(name);
  };
  llvm::copy_if(bufferNames, std::back_inserter(parameterNames), isVariable);
  llvm::erase_if(bufferNames, isVariable);
  for (const std::string &name : parameterNames)
    if (isVariable(name))
      kinds.erase(name);
}

void ExporterMetadata::readValues(const ::onnx::GraphProto &graph) {
  for (const auto &info : graph.value_info()) {
    if (StringRef kind = metadata(info, kindKey); !kind.empty())
      kinds[info.name()] = kind.str();
    if (StringRef text = metadata(info, foldedKey); !text.empty())
      for (StringRef origin : pythonStrings(text))
        origins[info.name()].push_back(origin.str());
  }
}

void ExporterMetadata::readLosses(const ::onnx::GraphProto &graph) {
  for (const auto &node : graph.node())
    if (operatorOf(node) == crossEntropy && node.op_type() != "Constant")
      if (StringRef call = metadata(node, fxKey); !losses.insert(call).second)
        expandedLosses.insert(call);
}

/// Compares the nodes with the numbers in `mtc.module`, since optimizers remove Identity nodes.
void ExporterMetadata::findLostMarks(const ::onnx::ModelProto &model, int64_t stops) {
  int64_t found = 0;
  StringSet<> marked;
  forEachNode(model, [&](const ::onnx::NodeProto &node) {
    found += isDetached(node);
    if (StringRef name = updateOf(node); !name.empty())
      marked.insert(name);
  });
  if (found < stops)
    lost.push_back("the module stops gradients at " + std::to_string(stops) +
                   " values, the file at " + std::to_string(found) +
                   ": a tool removed the others, so training differs from the module. Compile the "
                   "file as mtc.export wrote it");
  std::vector<std::string> fixed;
  for (const std::string &name : bufferNames)
    if (updated.contains(name) && !marked.contains(name))
      fixed.push_back(name);
  if (!fixed.empty())
    lost.push_back("the module updates " + listed(fixed, quoted) +
                   " in each forward pass, the file does not: it is in inference form, or a tool "
                   "removed the updates. To go on training, use the file of mtc.export or "
                   "--export-training");
}

/// Reads the tensors of save_pretrained that hold a tensor of the module, if there are any. Returns
/// whether they are well-formed.
bool ExporterMetadata::readPretrained(StringRef name, const json::Object &entry) {
  const json::Array *list = entry.getArray("pretrained");
  if (!list)
    return !entry.get("pretrained");
  std::optional<std::vector<PretrainedTensor>> tensors = parsePretrainedTensors(*list);
  if (tensors)
    pretrained[name] = std::move(*tensors);
  return tensors.has_value();
}

/// Returns the number of nodes that stopped gradients.
int64_t ExporterMetadata::readModule(StringRef text, Problems &problems) {
  auto refuse = [&](const Twine &what) {
    problems.add("metadata '" + moduleKey + "': " + what +
                 "; export the module again with mtc.export");
    return 0;
  };
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return refuse("invalid JSON: " + toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  if (!object)
    return refuse("expected a JSON object");
  std::optional<int64_t> format = object->getInteger("format");
  if (format != moduleFormat)
    return refuse("expected format " + Twine(moduleFormat) +
                  (format ? ", got " + Twine(*format) : Twine()));
  const json::Array *list = object->getArray("parameters");
  if (!list)
    return refuse("expected a list 'parameters'");
  hasList = true;
  parameterNames.clear();
  for (const json::Value &entry : *list) {
    const json::Object *parameter = entry.getAsObject();
    std::optional<StringRef> name = parameter ? parameter->getString("name") : std::nullopt;
    if (!name)
      return refuse("expected objects with a 'name' in 'parameters'");
    parameterNames.push_back(name->str());
    if (auto shape = integersOf(parameter->getArray("shape")))
      parameterShapes.push_back(std::move(*shape));
    kinds[*name] = "PARAMETER";
    if (parameter->getBoolean("requires_grad") == false)
      frozen.insert(*name);
    if (!readPretrained(*name, *parameter))
      return refuse("parameter " + quoted(*name) + ": malformed 'pretrained'");
    if (const json::Array *all = parameter->getArray("names"))
      for (const json::Value &each : *all)
        if (std::optional<StringRef> alias = each.getAsString())
          names[*name].push_back(alias->str());
  }
  if (parameterShapes.size() != parameterNames.size())
    parameterShapes.clear();
  if (const json::Array *all = object->getArray("buffers")) {
    bufferNames.clear();
    for (const json::Value &entry : *all)
      if (const json::Object *buffer = entry.getAsObject())
        if (std::optional<StringRef> name = buffer->getString("name")) {
          bufferNames.push_back(name->str());
          kinds[*name] = "BUFFER";
          if (!readPretrained(*name, *buffer))
            return refuse("buffer " + quoted(*name) + ": malformed 'pretrained'");
          if (std::optional<StringRef> value = buffer->getString("update")) {
            updated.insert(*name);
            newValues.insert(*value);
          }
        }
  }
  if (const json::Object *rows = object->getObject("padding_idx"))
    for (const auto &[name, row] : *rows)
      if (std::optional<int64_t> index = row.getAsInteger())
        paddingIndices[name] = *index;
  return object->getInteger("stops").value_or(0);
}

InferenceValues listedInferenceValues(const ::onnx::ModelProto &model) {
  InferenceValues result;
  Expected<json::Value> value = json::parse(metadata(model, moduleKey));
  if (!value) {
    consumeError(value.takeError());
    return result;
  }
  const json::Object *object = value->getAsObject();
  const json::Object *list = object ? object->getObject("inference") : nullptr;
  if (!list)
    return result;
  result.isListed = true;
  for (const auto &[name, replacement] : *list)
    if (std::optional<StringRef> text = replacement.getAsString())
      result.values.emplace_back(name.str(), text->str());
  // The order of a JSON object is arbitrary.
  llvm::sort(result.values);
  return result;
}

StringRef ExporterMetadata::kindOf(StringRef initializer) const {
  auto found = kinds.find(initializer);
  return found == kinds.end() ? StringRef() : StringRef(found->second);
}

ArrayRef<std::string> ExporterMetadata::namesOf(StringRef initializer) const {
  auto found = names.find(initializer);
  return found == names.end() ? ArrayRef<std::string>() : ArrayRef(found->second);
}

ArrayRef<PretrainedTensor> ExporterMetadata::pretrainedTensorsOf(StringRef initializer) const {
  auto found = pretrained.find(initializer);
  return found == pretrained.end() ? ArrayRef<PretrainedTensor>() : ArrayRef(found->second);
}

ArrayRef<std::string> ExporterMetadata::originsOf(StringRef initializer) const {
  auto found = origins.find(initializer);
  return found == origins.end() ? ArrayRef<std::string>() : ArrayRef(found->second);
}

void ExporterMetadata::setOrigins(::onnx::ValueInfoProto &initializer, const std::string &list) {
  auto &entry = *initializer.add_metadata_props();
  entry.set_key(foldedKey.str());
  entry.set_value(list);
}

bool ExporterMetadata::isDetached(const ::onnx::NodeProto &identity) {
  return metadata(identity, detachedKey) == "true";
}

/// A line of the module shows `with torch.no_grad():` if the block is on the same line, or a
/// function with the decorator, which PyTorch calls from `decorate_context`.
bool ExporterMetadata::isInNoGrad(const ::onnx::NodeProto &node) {
  StringRef trace = metadata(node, stackKey);
  return trace.contains("torch.no_grad()") || trace.contains("torch.inference_mode()") ||
         trace.contains("in decorate_context");
}

StringRef ExporterMetadata::updateOf(const ::onnx::NodeProto &identity) {
  return metadata(identity, updateKey);
}

StringRef ExporterMetadata::settingOf(const ::onnx::NodeProto &identity) {
  return metadata(identity, settingKey);
}

/// Parses `aten.embedding.default](args = (%weight, %indices, 0)`; -1 means no padding index.
std::optional<int64_t> ExporterMetadata::paddingIndexOf(const ::onnx::NodeProto &node) const {
  auto listed = node.input_size() > 0 ? paddingIndices.find(node.input(0)) : paddingIndices.end();
  if (listed != paddingIndices.end())
    return listed->second;
  if (operatorOf(node) != "aten.embedding.default")
    return std::nullopt;
  SmallVector<StringRef> arguments;
  argumentsText(node).split(')').first.split(arguments, ',');
  int64_t index = -1;
  if (arguments.size() < 3 || arguments[2].trim().getAsInteger(10, index) || index < 0)
    return std::nullopt;
  return index;
}

/// Parses `cross_entropy_loss(input, target, weight, reduction, ignore_index, label_smoothing)`.
std::optional<double> ExporterMetadata::labelSmoothingOf(const ::onnx::NodeProto &node) const {
  if (operatorOf(node) != crossEntropy || expandedLosses.contains(metadata(node, fxKey)))
    return std::nullopt;
  constexpr size_t position = 5;
  auto [positional, keywords] = argumentsText(node).split(')');
  SmallVector<StringRef> arguments;
  positional.split(arguments, ',');
  StringRef text = arguments.size() > position
                       ? arguments[position]
                       : keywords.split("label_smoothing: ").second.take_until([](char c) {
                           return c == ',' || c == '}';
                         });
  double smoothing = 0;
  if (text.trim().getAsDouble(smoothing) || !(smoothing > 0 && smoothing <= 1))
    return std::nullopt;
  return smoothing;
}

StringRef ExporterMetadata::operatorOf(const ::onnx::NodeProto &node) {
  return metadata(node, fxKey).split("target=torch.ops.").second.split(']').first;
}

std::vector<std::string> ExporterMetadata::argumentsOf(const ::onnx::NodeProto &node) const {
  std::vector<std::string> result;
  StringRef text = argumentsText(node);
  for (size_t start = text.find('%'); start != StringRef::npos; start = text.find('%')) {
    text = text.drop_front(start + 1);
    StringRef name = text.take_while(isNameCharacter);
    auto target = placeholders.find(name);
    result.push_back(target == placeholders.end() ? ("%" + name).str() : target->second);
  }
  return result;
}

StringRef ExporterMetadata::rulesOf(const ::onnx::NodeProto &node) {
  return metadata(node, ruleKey);
}

} // namespace mtc::onnx
