//===- Model.cpp - In-memory representation of an ONNX file -----------------------------------===//

#include "frontend/onnx/reader/Model.h"

#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/reader/DroppedBiases.h"
#include "frontend/onnx/reader/ExporterMetadata.h"
#include "frontend/onnx/reader/FoldedFunctions.h"
#include "frontend/onnx/reader/Functions.h"
#include "frontend/onnx/reader/GraphOrder.h"
#include "frontend/onnx/reader/LinearModels.h"
#include "frontend/onnx/reader/TensorData.h"
#include "support/compiler/InputFile.h"

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/stubs/logging.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

/// Identifies common files that are not ONNX models by their first bytes; returns empty otherwise.
StringRef otherKind(StringRef bytes) {
  if (bytes.empty())
    return "is empty";
  if (bytes.starts_with("version https://git-lfs"))
    return "is a Git LFS pointer, not the model; fetch it with `git lfs pull`";
  if (bytes.starts_with("PK\x03\x04"))
    return "is a zip archive (a PyTorch checkpoint?), expected an ONNX model";
  return "";
}

/// Parses the message within protobuf's limits on size and depth. Suppresses protobuf's log
/// messages.
bool parse(StringRef bytes, ::onnx::ModelProto &message) {
  google::protobuf::LogHandler *previous = google::protobuf::SetLogHandler(nullptr);
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  bool ok = message.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
  google::protobuf::SetLogHandler(previous);
  return ok;
}

} // namespace

Model::Model() : message(std::make_unique<::onnx::ModelProto>()) {}
Model::~Model() = default;

std::unique_ptr<Model> Model::read(StringRef path, Problems &problems) {
  auto fail = [&](const Twine &reason) {
    problems.add(path + ": " + reason);
    return nullptr;
  };
  SmallString<256> resolved;
  if (std::error_code code = sys::fs::real_path(path, resolved))
    return fail("cannot be opened: " + code.message());
  Expected<InputFile> file = readInputFile(resolved, anyBytes, FileForm::Binary);
  if (!file)
    return fail(toString(file.takeError()));
  StringRef bytes = file->bytes();
  if (StringRef kind = otherKind(bytes); !kind.empty())
    return fail(kind);
  if (bytes.size() > INT32_MAX)
    return fail("has " + Twine(bytes.size()) +
                " bytes; an ONNX file is limited to 2 GiB. Save the weights as external data");

  std::unique_ptr<Model> model(new Model);
  model->givenPath = path;
  model->modelName = sys::path::stem(path);
  model->fileId = file->id;
  if (!parse(bytes, *model->message))
    return fail(
        "is not a valid ONNX file: malformed, truncated or nested more than 100 levels deep (" +
        Twine(bytes.size()) + " bytes read)");
  if (!model->message->has_graph())
    return fail("contains no graph; expected an ONNX model");
  sortNodes(*model->message);

  StringRef given = sys::path::parent_path(path);
  model->externalFiles = std::make_unique<ExternalFiles>(given.empty() ? "." : given.str(),
                                                         sys::path::parent_path(resolved).str());

  Problems found;
  expandLinearModels(*model->message->mutable_graph(), found);
  model->undoExporter();
  model->checkHeader(found);
  model->collectInitializers(found);
  model->checkInputs(found);
  for (const std::string &text : found.get())
    problems.add(path + ": " + text);
  return found.empty() ? std::move(model) : nullptr;
}

void Model::undoExporter() {
  Problems unread; // Ignored here: the import reads the metadata again and reports its problems.
  ExporterMetadata metadata(*message, unread);
  ::onnx::GraphProto &graph = *message->mutable_graph();
  restoreDroppedBiases(graph, metadata);
  unfoldFunctions(graph, metadata,
                  [&](const ::onnx::TensorProto &tensor) { return tensorBytes(tensor); });
  converted.clear(); // The tensors, which are the keys, have moved.
}

void Model::checkHeader(Problems &problems) {
  int64_t version = message->ir_version();
  if (version < oldestIrVersion || version > newestIrVersion)
    problems.add("has IR version " + Twine(version) + ", expected " + Twine(oldestIrVersion) +
                 " to " + Twine(newestIrVersion));
  StringMap<int64_t> seen;
  for (const auto &import : message->opset_import()) {
    StringRef domain = import.domain() == "ai.onnx" ? StringRef() : StringRef(import.domain());
    auto [entry, isNew] = seen.try_emplace(domain, import.version());
    if (!isNew && entry->second != import.version())
      problems.add("imports domain " + quoted(domain.empty() ? "ai.onnx" : domain) + " as opset " +
                   Twine(entry->second) + " and as opset " + Twine(import.version()));
    if (isNew && domain.empty() &&
        (import.version() < oldestOpset || import.version() > newestOpset))
      problems.add("uses opset " + Twine(import.version()) + " of ai.onnx, expected " +
                   Twine(oldestOpset) + " to " + Twine(newestOpset) +
                   "; convert it with onnx.version_converter or export it again");
  }
  if (auto found = seen.find(""); found != seen.end())
    opsetVersion = found->second;
  else
    problems.add("has no opset_import for ai.onnx");
}

void Model::addInitializer(const ::onnx::TensorProto &tensor, const SubgraphPath &subgraph,
                           Problems &problems) {
  std::string name = tensor.name(), label = "initializer " + quoted(name);
  if (name.empty()) {
    problems.add("an initializer has no name");
    return;
  }
  bool isMain = subgraph.positions.empty();
  auto isTaken = [&](StringRef candidate) {
    return initializerIndex.contains(candidate) ||
           (!isMain && llvm::any_of(message->graph().input(),
                                    [&](const auto &input) { return input.name() == candidate; }));
  };
  for (size_t i = 2; isTaken(name) || unsupported.contains(name); ++i) {
    if (isMain) {
      problems.add(label + " is defined twice");
      return;
    }
    name = tensor.name() + "." + std::to_string(i);
  }
  // Only users of the initializer are affected.
  if (isMain && tensor.data_type() == ::onnx::TensorProto::STRING) {
    unsupported[name] = label + " has elements of type " + onnxDataTypeName(tensor.data_type()) +
                        ", expected numbers or booleans";
    return;
  }
  initializerIndex[name] = initializerList.size();
  Expected<uint64_t> bytes = checkTensor(tensor);
  bool isExternal = tensor.data_location() == ::onnx::TensorProto::EXTERNAL;
  initializerList.push_back({name, tensor.data_type(),
                             std::vector<int64_t>(tensor.dims().begin(), tensor.dims().end()),
                             bytes ? *bytes : 0, isExternal, &tensor, subgraph});
  if (!bytes)
    problems.add(label + ": " + toString(bytes.takeError()));
  else if (isExternal)
    if (Error error = tensorBytes(tensor).takeError()) {
      // A plan does not depend on the weights.
      if (error.isA<MissingFileError>())
        consumeError(std::move(error));
      else
        problems.add(label + ": " + toString(std::move(error)));
    }
}

template <typename Nodes>
void Model::collectFromSubgraphs(const Nodes &nodes, SubgraphPath &path, Problems &problems) {
  for (auto [position, node] : llvm::enumerate(nodes))
    for (auto [index, attribute] : llvm::enumerate(node.attribute())) {
      if (!attribute.has_g())
        continue;
      path.positions.insert(path.positions.end(),
                            {static_cast<int64_t>(position), static_cast<int64_t>(index)});
      for (const ::onnx::TensorProto &tensor : attribute.g().initializer())
        addInitializer(tensor, path, problems);
      for (const auto &sparse : attribute.g().sparse_initializer())
        problems.add("initializer " + quoted(sparse.values().name()) +
                     " is sparse; mtc supports only dense initializers");
      collectFromSubgraphs(attribute.g().node(), path, problems);
      path.positions.resize(path.positions.size() - 2);
    }
}

void Model::collectInitializers(Problems &problems) {
  const auto &graph = message->graph();
  for (const ::onnx::TensorProto &tensor : graph.initializer())
    addInitializer(tensor, {}, problems);
  for (const auto &sparse : graph.sparse_initializer())
    problems.add("initializer " + quoted(sparse.values().name()) +
                 " is sparse; mtc supports only dense initializers");
  SubgraphPath path;
  collectFromSubgraphs(graph.node(), path, problems);
  for (auto [position, function] : llvm::enumerate(message->functions())) {
    path.function = static_cast<int>(position);
    collectFromSubgraphs(function.node(), path, problems);
  }
}

void Model::checkInputs(Problems &problems) {
  StringSet<> seen;
  for (const auto &input : message->graph().input()) {
    if (input.name().empty())
      problems.add("a graph input has no name");
    else if (!seen.insert(input.name()).second)
      problems.add("graph input " + quoted(input.name()) + " is defined twice");
  }
}

const Initializer *Model::findInitializer(StringRef name) const {
  auto found = initializerIndex.find(name);
  return found == initializerIndex.end() ? nullptr : &initializerList[found->second];
}

bool Model::hasInitializer(StringRef name) const {
  const Initializer *found = findInitializer(name);
  return found && found->subgraph.positions.empty();
}

const ::onnx::TensorProto *Model::findTensor(StringRef name) const {
  const ::onnx::GraphProto &graph = message->graph();
  if (const Initializer *initializer = findInitializer(name))
    return initializer->tensor;
  for (const ::onnx::NodeProto &node : graph.node())
    if (node.output_size() == 1 && node.output(0) == name)
      return constantTensor(node);
  return nullptr;
}

Expected<mlir::RankedTensorType> Model::initializerType(mlir::MLIRContext *context,
                                                        StringRef name) const {
  if (const ::onnx::TensorProto *tensor = findTensor(name))
    return tensorType(*tensor, context);
  return problem("the model has no initializer " + quoted(name));
}

Expected<ArrayRef<char>> Model::initializerBytes(StringRef name) {
  if (const ::onnx::TensorProto *tensor = findTensor(name))
    return tensorBytes(*tensor);
  return problem("the model has no initializer " + quoted(name));
}

Expected<ArrayRef<char>> Model::tensorBytes(const ::onnx::TensorProto &tensor) {
  if (auto known = converted.find(&tensor); known != converted.end())
    return ArrayRef<char>(known->second);
  Expected<uint64_t> size = checkTensor(tensor);
  if (!size)
    return size.takeError();
  if (tensor.data_location() == ::onnx::TensorProto::EXTERNAL) {
    Expected<ExternalReference> reference = readExternalReference(tensor);
    if (!reference)
      return reference.takeError();
    return externalFiles->bytes(*reference, *size);
  }
  std::vector<char> storage;
  ArrayRef<char> bytes = inlineBytes(tensor, storage);
  if (storage.empty())
    return bytes;
  return ArrayRef<char>(converted[&tensor] = std::move(storage));
}

/// Returns whether an exporter uses this text for a dimension without a name.
static bool isUnnamed(StringRef text) {
  text = text.trim();
  return text.empty() || text == "?" || text == "-1" || text.equals_insensitive("none");
}

std::string dimensionText(const ::onnx::ValueInfoProto &value, int axis) {
  const auto &dim = value.type().tensor_type().shape().dim(axis);
  // Some exporters write -1 for an unnamed dimension.
  if (dim.has_dim_value() && dim.dim_value() >= 0)
    return std::to_string(dim.dim_value());
  return isUnnamed(dim.dim_param()) ? value.name() + "." + std::to_string(axis) : dim.dim_param();
}

std::vector<SymbolicDimension> Model::symbolicDimensions() const {
  std::vector<SymbolicDimension> result;
  for (const auto &input : message->graph().input())
    if (!hasInitializer(input.name()))
      for (auto [axis, dim] : llvm::enumerate(input.type().tensor_type().shape().dim()))
        if (!dim.has_dim_value() || dim.dim_value() < 0)
          result.push_back({dimensionText(input, static_cast<int>(axis)), input.name(),
                            static_cast<int64_t>(axis)});
  return result;
}

} // namespace mtc::onnx
