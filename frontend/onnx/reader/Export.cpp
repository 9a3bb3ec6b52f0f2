//===- Export.cpp - Serialization of a model with gaps for trained weights --------------------===//
//
// All lengths in protobuf's wire format are known before the weights are, and the order of fields
// is arbitrary. A file contains the model without its graph, then the graph without its
// initializers, then each initializer as a header followed by its raw data. (protobuf.dev,
// "Encoding")
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/reader/Export.h"

#include "frontend/onnx/reader/ExportMessages.h"
#include "frontend/onnx/reader/ExporterMetadata.h"
#include "frontend/onnx/reader/InferenceForm.h"
#include "frontend/onnx/reader/SubgraphInitializers.h"
#include "frontend/onnx/reader/TensorData.h"

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/wire_format_lite.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

using google::protobuf::internal::WireFormatLite;

/// Returns the tag and the length of a length-delimited field.
std::string fieldStart(int field, uint64_t length) {
  std::string text;
  google::protobuf::io::StringOutputStream bytes(&text);
  google::protobuf::io::CodedOutputStream stream(&bytes);
  stream.WriteTag(WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
  stream.WriteVarint64(length);
  stream.Trim();
  return text;
}

/// An initializer of the exported file, and the tensor of its initial value.
struct Exported {
  std::string name;
  const ::onnx::TensorProto *tensor;
  uint64_t bytes;
};

/// Returns the initializers of the main graph, followed by the added ones. Fails if they and the
/// initializers of subgraphs do not include all `names`.
Expected<std::vector<Exported>> collectInitializers(const Model &model,
                                                    ArrayRef<AddedInitializer> added,
                                                    const StringSet<> &names) {
  std::vector<Exported> all;
  for (const Initializer &initializer : model.initializers())
    if (initializer.subgraph.positions.empty())
      all.push_back({initializer.name, initializer.tensor, initializer.bytes});
  for (const AddedInitializer &each : added) {
    const ::onnx::TensorProto *tensor = model.findTensor(each.source);
    if (!tensor)
      return problem("the model has no initializer " + quoted(each.source));
    Expected<uint64_t> bytes = checkTensor(*tensor);
    if (!bytes)
      return bytes.takeError();
    all.push_back({each.name, tensor, *bytes});
  }
  for (const auto &name : names)
    if (!model.findInitializer(name.getKey()) &&
        llvm::none_of(all, [&](const Exported &each) { return each.name == name.getKey(); }))
      return problem("the model has no initializer " + quoted(name.getKey()));
  return all;
}

/// Serializes an initializer as a field of the graph, without its elements.
std::string initializerStart(const Exported &initializer) {
  std::string header = headerOf(*initializer.tensor, initializer.name).SerializeAsString();
  header += fieldStart(::onnx::TensorProto::kRawDataFieldNumber, initializer.bytes);
  return fieldStart(::onnx::GraphProto::kInitializerFieldNumber,
                    header.size() + initializer.bytes) +
         header;
}

/// Appends an initializer with the data in the file.
Error appendInitializer(std::string &bytes, Model &model, const Exported &initializer) {
  Expected<ArrayRef<char>> data = model.tensorBytes(*initializer.tensor);
  if (!data)
    return problem("initializer " + quoted(initializer.name) + ": " + toString(data.takeError()));
  bytes += initializerStart(initializer);
  bytes.append(data->begin(), data->end());
  return Error::success();
}

/// Appends bytes, split at the data of initializers of subgraphs. The last segment has no data.
void appendCut(std::vector<FileSegment> &segments, StringRef bytes, ArrayRef<Cut> cuts,
               ExportForm form) {
  size_t begin = 0;
  for (const Cut &cut : cuts) {
    segments.push_back({bytes.slice(begin, cut.offset).str(), cut.initializer->name,
                        cut.initializer->dataType, form});
    begin = cut.offset + cut.size;
  }
  segments.push_back({bytes.substr(begin).str(), "", 0, form});
}

/// Returns the segments of `form` from the beginning of the file to the graph's last `rest` bytes,
/// which the caller appends. The last segment has no data. If `rest` depends on the name of a
/// second file, the program writes the start of the graph.
Expected<std::vector<FileSegment>>
headSegments(const ::onnx::ModelProto &outer, const std::string &graph,
             std::optional<uint64_t> rest, const SubgraphInitializers &inSubgraphs,
             const SubgraphInitializers::Places &places, ExportForm form) {
  std::string bytes = outer.SerializeAsString();
  std::vector<Cut> cuts = inSubgraphs.find(bytes, /*isGraph=*/false, places);
  std::vector<FileSegment> segments;
  if (const uint64_t size = bytes.size() + graph.size() + rest.value_or(0); size > maxModelBytes)
    return tooLarge(size);
  if (rest) {
    bytes += fieldStart(::onnx::ModelProto::kGraphFieldNumber, graph.size() + *rest);
  } else {
    appendCut(segments, bytes, cuts, form);
    segments.back().kind = SegmentKind::Graph;
    bytes.clear();
    cuts.clear();
  }
  for (Cut cut : inSubgraphs.find(graph, /*isGraph=*/true, places)) {
    cut.offset += bytes.size();
    cuts.push_back(cut);
  }
  bytes += graph;
  appendCut(segments, bytes, cuts, form);
  return segments;
}

/// Appends initializers, and ends a segment before the data of each that `names` contains. With
/// `isExternal`, these have segments of their own.
Error appendShared(std::vector<FileSegment> &segments, std::string bytes, Model &model,
                   ArrayRef<Exported> shared, const StringSet<> &names, bool isExternal) {
  for (const Exported &initializer : shared) {
    if (names.contains(initializer.name) && isExternal) {
      if (!bytes.empty())
        segments.push_back({std::exchange(bytes, {}), ""});
      segments.push_back({headerOf(*initializer.tensor, initializer.name).SerializeAsString(),
                          initializer.name, initializer.tensor->data_type(), ExportForm::Every,
                          SegmentKind::External});
    } else if (names.contains(initializer.name))
      segments.push_back({std::exchange(bytes, {}) + initializerStart(initializer),
                          initializer.name, initializer.tensor->data_type()});
    else if (Error error = appendInitializer(bytes, model, initializer))
      return error;
  }
  if (!bytes.empty() || segments.empty())
    segments.push_back({std::move(bytes), ""});
  return Error::success();
}

/// Returns whether the data of `names` has to be in a second file, so that the file has at most
/// `limit` bytes. Checks the size of the rest before large data is copied.
Expected<bool> needsDataFile(const ::onnx::ModelProto &outer, const ::onnx::GraphProto &graph,
                             ArrayRef<Exported> initializers, const StringSet<> &names,
                             uint64_t limit) {
  uint64_t rest = outer.ByteSizeLong() + graph.ByteSizeLong(), size = rest;
  for (const Exported &initializer : initializers) {
    size += initializer.bytes;
    rest += names.contains(initializer.name) ? 0 : initializer.bytes;
  }
  if (rest > maxModelBytes)
    return tooLarge(rest);
  return size > limit;
}

/// Implements `exportSegments`, whose error adds that an export is not possible.
Expected<std::vector<FileSegment>> makeSegments(Model &model, ArrayRef<AddedInitializer> added,
                                                const StringSet<> &initializers,
                                                ArrayRef<ReplacedNode> replaced, uint64_t limit) {
  Expected<std::vector<Exported>> exported = collectInitializers(model, added, initializers);
  if (!exported)
    return exported.takeError();
  ::onnx::ModelProto outer = withoutGraph(model.proto());
  ::onnx::GraphProto graph = withoutInitializers(model);
  SubgraphInitializers inSubgraphs(model, initializers);
  inSubgraphs.reserve(outer, graph);
  InferenceMarks marks(graph, replaced, listedInferenceValues(model.proto()).values);
  applyAddedInitializers(graph, added);
  if (Error error = inlineNestedTensors(model, outer, graph))
    return error;
  Expected<bool> isExternal = needsDataFile(outer, graph, *exported, initializers, limit);
  if (!isExternal)
    return isExternal.takeError();

  SubgraphInitializers::Places places = inSubgraphs.locate(outer, graph);
  ::onnx::ModelProto inferenceOuter = outer;
  ::onnx::GraphProto inferenceGraph = graph;
  marks.clear();
  inSubgraphs.follow(inferenceOuter, inferenceGraph, places);
  // Initializers are added by name only, so that the inference form can report those that are not
  // read.
  for (const Exported &each : *exported)
    inferenceGraph.add_initializer()->set_name(each.name);
  InferenceForm inference = toInferenceForm(inferenceOuter, inferenceGraph);
  inferenceGraph.clear_initializer();
  std::vector<Exported> shared;
  uint64_t sharedSize = 0;
  std::string graphBytes = graph.SerializeAsString();
  for (const Exported &each : *exported) {
    if (initializers.contains(each.name) || !inference.unread.contains(each.name)) {
      shared.push_back(each);
      sharedSize += initializerStart(each).size() + each.bytes;
    } else if (Error error = appendInitializer(graphBytes, model, each)) {
      return error;
    }
  }

  const std::optional<uint64_t> rest = *isExternal ? std::nullopt : std::optional(sharedSize);
  Expected<std::vector<FileSegment>> segments =
      headSegments(outer, graphBytes, rest, inSubgraphs, places,
                   inference.isChanged ? ExportForm::Original : ExportForm::Every);
  if (!segments)
    return segments.takeError();
  std::string bytes;
  if (inference.isChanged) {
    Expected<std::vector<FileSegment>> inferenceHead =
        headSegments(inferenceOuter, inferenceGraph.SerializeAsString(), rest, inSubgraphs,
                     inSubgraphs.locate(inferenceOuter, inferenceGraph), ExportForm::Inference);
    if (!inferenceHead)
      return inferenceHead.takeError();
    std::move(inferenceHead->begin(), inferenceHead->end(), std::back_inserter(*segments));
  } else {
    // Shared bytes are appended to the last segment.
    bytes = std::move(segments->back().bytes);
    segments->pop_back();
  }
  if (Error error =
          appendShared(*segments, std::move(bytes), model, shared, initializers, *isExternal))
    return error;
  return segments;
}

} // namespace

Expected<std::vector<FileSegment>> exportSegments(Model &model, ArrayRef<AddedInitializer> added,
                                                  const StringSet<> &initializers,
                                                  ArrayRef<ReplacedNode> replaced, uint64_t limit) {
  Expected<std::vector<FileSegment>> segments =
      makeSegments(model, added, initializers, replaced, limit);
  if (!segments)
    return problem("export is not possible: " + toString(segments.takeError()));
  return segments;
}

} // namespace mtc::onnx
