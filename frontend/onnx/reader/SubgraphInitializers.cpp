//===- SubgraphInitializers.cpp - Data of subgraphs' initializers in an exported model --------===//

#include "frontend/onnx/reader/SubgraphInitializers.h"

#include "frontend/onnx/reader/ExportMessages.h"

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

/// Navigates the fields of a serialized message.
class FieldCursor {
public:
  explicit FieldCursor(StringRef message)
      : stream(message.bytes_begin(), static_cast<int>(message.size())),
        length(static_cast<uint32_t>(message.size())) {}

  /// Moves to the contents of occurrence `index` (from 0) of the length-delimited field `number`.
  /// The field must exist.
  void enter(int number, int64_t index) {
    using google::protobuf::internal::WireFormatLite;
    while (const uint32_t tag = stream.ReadTag()) {
      if (WireFormatLite::GetTagFieldNumber(tag) == number && index-- == 0) {
        stream.ReadVarint32(&length);
        return;
      }
      WireFormatLite::SkipField(&stream, tag);
    }
    llvm_unreachable("the message has the field");
  }

  void enterSubgraph(int nodeField, ArrayRef<int64_t> positions) {
    for (; !positions.empty(); positions = positions.drop_front(2)) {
      enter(nodeField, positions[0]);
      enter(::onnx::NodeProto::kAttributeFieldNumber, positions[1]);
      enter(::onnx::AttributeProto::kGFieldNumber, 0);
      nodeField = ::onnx::GraphProto::kNodeFieldNumber;
    }
  }

  size_t offset() const { return stream.CurrentPosition(); }
  size_t size() const { return length; }

private:
  google::protobuf::io::CodedInputStream stream;
  uint32_t length;
};

/// Locates tensors of subgraphs after nodes were moved, by the addresses of their messages.
class TensorLocator {
public:
  explicit TensorLocator(ArrayRef<const ::onnx::TensorProto *> tensors) : places(tensors.size()) {
    for (auto [i, tensor] : llvm::enumerate(tensors))
      indices[tensor] = i;
  }

  /// Returns the location of each tensor, or nothing if it was erased.
  std::vector<std::optional<TensorPlace>> run(const ::onnx::ModelProto &outer,
                                              const ::onnx::GraphProto &graph) {
    visit(graph.node(), {std::nullopt, {}, 0});
    for (auto [i, function] : llvm::enumerate(outer.functions()))
      visit(function.node(), {static_cast<int>(i), {}, 0});
    return std::move(places);
  }

private:
  void visit(const Nodes &nodes, const TensorPlace &place) {
    for (auto [i, node] : llvm::enumerate(nodes))
      for (auto [j, attribute] : llvm::enumerate(node.attribute())) {
        if (!attribute.has_g())
          continue;
        TensorPlace inner = place;
        inner.positions.push_back(static_cast<int64_t>(i));
        inner.positions.push_back(static_cast<int64_t>(j));
        for (auto [k, tensor] : llvm::enumerate(attribute.g().initializer()))
          if (auto found = indices.find(&tensor); found != indices.end()) {
            inner.index = static_cast<int64_t>(k);
            places[found->second] = inner;
          }
        visit(attribute.g().node(), inner);
      }
  }

  DenseMap<const ::onnx::TensorProto *, size_t> indices;
  std::vector<std::optional<TensorPlace>> places;
};

::onnx::GraphProto &graphAt(::onnx::ModelProto &outer, ::onnx::GraphProto &graph,
                            std::optional<int> function, ArrayRef<int64_t> positions) {
  Nodes &nodes =
      function ? *outer.mutable_functions(*function)->mutable_node() : *graph.mutable_node();
  return subgraphAt(nodes, positions);
}

} // namespace

SubgraphInitializers::SubgraphInitializers(const Model &model, const StringSet<> &names) {
  for (const Initializer &initializer : model.initializers())
    if (!initializer.subgraph.positions.empty() && names.contains(initializer.name))
      found.push_back(&initializer);
}

void SubgraphInitializers::reserve(::onnx::ModelProto &outer, ::onnx::GraphProto &graph) {
  for (const Initializer *initializer : found) {
    const SubgraphPath &path = initializer->subgraph;
    auto &tensors = *graphAt(outer, graph, path.function, path.positions).mutable_initializer();
    auto tensor = llvm::find_if(tensors, [&](const ::onnx::TensorProto &candidate) {
      return candidate.name() == initializer->tensor->name();
    });
    *tensor = headerOf(*initializer->tensor, initializer->tensor->name());
    tensor->set_raw_data(std::string(initializer->bytes, '\0'));
    reserved.push_back(&*tensor);
  }
}

SubgraphInitializers::Places SubgraphInitializers::locate(const ::onnx::ModelProto &outer,
                                                          const ::onnx::GraphProto &graph) const {
  return TensorLocator(reserved).run(outer, graph);
}

void SubgraphInitializers::follow(::onnx::ModelProto &outer, ::onnx::GraphProto &graph,
                                  const Places &places) {
  for (auto [tensor, place] : llvm::zip(reserved, places))
    tensor = place ? graphAt(outer, graph, place->function, place->positions)
                         .mutable_initializer(static_cast<int>(place->index))
                   : nullptr;
}

std::vector<Cut> SubgraphInitializers::find(StringRef message, bool isGraph,
                                            const Places &places) const {
  std::vector<Cut> cuts;
  for (auto [initializer, place] : llvm::zip(found, places)) {
    if (!place || isGraph == place->function.has_value())
      continue;
    FieldCursor cursor(message);
    if (!isGraph)
      cursor.enter(::onnx::ModelProto::kFunctionsFieldNumber, *place->function);
    int nodeField = ::onnx::GraphProto::kNodeFieldNumber;
    if (!isGraph)
      nodeField = ::onnx::FunctionProto::kNodeFieldNumber;
    cursor.enterSubgraph(nodeField, place->positions);
    cursor.enter(::onnx::GraphProto::kInitializerFieldNumber, place->index);
    cursor.enter(::onnx::TensorProto::kRawDataFieldNumber, 0);
    cuts.push_back({cursor.offset(), cursor.size(), initializer});
  }
  llvm::sort(cuts, [](const Cut &a, const Cut &b) { return a.offset < b.offset; });
  return cuts;
}

} // namespace mtc::onnx
