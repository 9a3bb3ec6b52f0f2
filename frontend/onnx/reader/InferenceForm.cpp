//===- InferenceForm.cpp - Conversion of a model to inference form ----------------------------===//

#include "frontend/onnx/reader/InferenceForm.h"

#include "frontend/onnx/reader/GraphOrder.h"
#include "frontend/onnx/reader/InferenceValues.h"
#include "frontend/onnx/reader/MetadataKeys.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

/// Returns the version of ai.onnx that a model or a function imports; 0 if none.
template <typename Imports> int64_t coreVersion(const Imports &imports) {
  for (const auto &import : imports)
    if (import.domain().empty() || import.domain() == "ai.onnx")
      return import.version();
  return 0;
}

bool isOperator(const ::onnx::NodeProto &node, StringRef type) {
  return node.op_type() == type && (node.domain().empty() || node.domain() == "ai.onnx");
}

/// Returns the attribute with this name, or null.
::onnx::AttributeProto *findAttribute(::onnx::NodeProto &node, StringRef name) {
  for (::onnx::AttributeProto &attribute : *node.mutable_attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

bool hasSubgraphs(const ::onnx::NodeProto &node) {
  return llvm::any_of(node.attribute(), [](const ::onnx::AttributeProto &attribute) {
    return attribute.has_g() || attribute.graphs_size() > 0;
  });
}

/// Returns whether a tensor is the boolean constant false.
bool isFalse(const ::onnx::TensorProto &tensor) {
  if (tensor.data_type() != ::onnx::TensorProto::BOOL)
    return false;
  if (tensor.raw_data().size() == 1)
    return tensor.raw_data().front() == 0;
  return tensor.int32_data_size() == 1 && tensor.int32_data(0) == 0;
}

/// Rewrites the nodes of a graph or a function, including subgraphs.
class Rewriter {
public:
  Rewriter(int64_t version, InferenceForm &form) : version(version), form(form) {}

  void run(::onnx::GraphProto &graph) {
    countReads(graph);
    for (const ::onnx::TensorProto &tensor : graph.initializer())
      constants[tensor.name()] = isFalse(tensor);
    rewrite(*graph.mutable_node());
    removeValues(*graph.mutable_value_info());
    // An initializer that is also a graph input is part of the model's interface.
    for (const ::onnx::ValueInfoProto &input : graph.input())
      released.erase(input.name());
    for (const ::onnx::TensorProto &tensor : graph.initializer())
      if (released.contains(tensor.name()) && reads.lookup(tensor.name()) == 0)
        form.unread.insert(tensor.name());
  }

  void run(::onnx::FunctionProto &function) {
    for (const std::string &output : function.output())
      ++reads[output];
    countReads(function.node());
    rewrite(*function.mutable_node());
    removeValues(*function.mutable_value_info());
  }

private:
  void countReads(const ::onnx::GraphProto &graph) {
    for (const ::onnx::ValueInfoProto &output : graph.output())
      ++reads[output.name()];
    countReads(graph.node());
  }

  void countReads(const Nodes &nodes) {
    for (const ::onnx::NodeProto &node : nodes) {
      for (const std::string &input : node.input())
        ++reads[input];
      for (const ::onnx::AttributeProto &attribute : node.attribute()) {
        if (attribute.has_g())
          countReads(attribute.g());
        for (const ::onnx::GraphProto &graph : attribute.graphs())
          countReads(graph);
      }
    }
  }

  void rewrite(Nodes &nodes) {
    for (::onnx::NodeProto &node : nodes)
      if (isOperator(node, "Constant"))
        if (const ::onnx::AttributeProto *value = findAttribute(node, "value"))
          constants[node.output(0)] = isFalse(value->t());
    rewriteMarked(nodes);
    std::vector<::onnx::NodeProto> identities;
    for (::onnx::NodeProto &node : nodes) {
      if (isOperator(node, "Dropout"))
        rewriteDropout(node);
      else if (isOperator(node, "BatchNormalization"))
        rewriteBatchNorm(node, identities);
      else if (isOperator(node, "Identity"))
        rewriteUpdate(node);
      for (::onnx::AttributeProto &attribute : *node.mutable_attribute()) {
        if (attribute.has_g())
          rewriteSubgraph(*attribute.mutable_g());
        for (::onnx::GraphProto &graph : *attribute.mutable_graphs())
          rewriteSubgraph(graph);
      }
    }
    insert(nodes, identities);
    removeUnread(nodes);
  }

  void rewriteSubgraph(::onnx::GraphProto &graph) {
    for (const ::onnx::TensorProto &tensor : graph.initializer())
      constants[tensor.name()] = isFalse(tensor);
    rewrite(*graph.mutable_node());
    removeValues(*graph.mutable_value_info());
  }

  /// Replaces results that a module computes differently in inference. The nodes that compute the
  /// replacements may come later.
  void rewriteMarked(Nodes &nodes) {
    std::vector<::onnx::NodeProto> replacements;
    for (::onnx::NodeProto &node : nodes) {
      std::optional<InferenceMarks::Mark> mark = InferenceMarks::take(node);
      if (!mark)
        continue;
      ::onnx::NodeProto &replacement = replacements.emplace_back();
      replacement.set_op_type(mark->slope ? "LeakyRelu" : "Identity");
      replacement.set_name(node.name());
      replacement.add_input(mark->value);
      replacement.add_output(node.output(mark->result));
      if (mark->slope) {
        ::onnx::AttributeProto &alpha = *replacement.add_attribute();
        alpha.set_name("alpha");
        alpha.set_type(::onnx::AttributeProto::FLOAT);
        alpha.set_f(*mark->slope);
      }
      ++reads[mark->value];
      if (node.output_size() == 1) {
        for (const std::string &input : node.input())
          release(input);
        node = replacement;
        replacements.pop_back();
      } else {
        node.set_output(mark->result, node.output(mark->result) + ".training");
        released.insert(node.output(mark->result));
      }
      form.isChanged = true;
    }
    if (!form.isChanged)
      return;
    for (::onnx::NodeProto &replacement : replacements)
      *nodes.Add() = std::move(replacement);
    sortNodes(nodes);
  }

  /// Dropout without operand `training_mode` is in inference mode, as all Dropout nodes before
  /// version 12.
  void rewriteDropout(::onnx::NodeProto &node) {
    if (version < 12 || node.input_size() < 3 || node.input(2).empty() ||
        constants.lookup(node.input(2)))
      return;
    form.isChanged = true;
    release(node.input(2));
    node.mutable_input()->RemoveLast();
    if (node.input(1).empty())
      node.mutable_input()->RemoveLast();
  }

  /// The node of a new value becomes an Identity of the initializer. The nodes that compute the new
  /// value remain, so that gradient stops among them are still counted.
  void rewriteUpdate(::onnx::NodeProto &node) {
    for (int i = 0; i < node.metadata_props_size(); ++i)
      if (node.metadata_props(i).key() == updateKey) {
        form.isChanged = true;
        node.set_input(0, node.metadata_props(i).value());
        ++reads[node.input(0)];
        node.mutable_metadata_props()->DeleteSubrange(i, 1);
        return;
      }
  }

  void rewriteBatchNorm(::onnx::NodeProto &node, std::vector<::onnx::NodeProto> &identities) {
    ::onnx::AttributeProto *training = findAttribute(node, "training_mode");
    bool trains = training && (training->i() != 0 || !training->ref_attr_name().empty());
    if (!trains && node.output_size() < 2)
      return;
    form.isChanged = true;
    if (trains) {
      training->clear_ref_attr_name();
      training->set_i(0);
    }
    // Results 1 and 2 are the running mean and variance; before version 14, results 3 and 4 are the
    // batch statistics.
    for (int i = 1; i < node.output_size(); ++i) {
      removed.insert(node.output(i));
      if (node.output(i).empty() || reads.lookup(node.output(i)) == 0)
        continue;
      const std::string &statistic = node.input(i % 2 == 1 ? 3 : 4);
      ++reads[statistic];
      removed.erase(node.output(i));
      ::onnx::NodeProto &identity = identities.emplace_back();
      identity.set_op_type("Identity");
      identity.set_name(node.name() + "_statistic_" + std::to_string(i));
      identity.add_input(statistic);
      identity.add_output(node.output(i));
    }
    node.mutable_output()->DeleteSubrange(1, node.output_size() - 1);
  }

  /// Inserts each Identity node directly after the producer of its statistic, or first if the
  /// statistic is not a node's result. The first user of the result comes later in both cases.
  static void insert(Nodes &nodes, const std::vector<::onnx::NodeProto> &identities) {
    for (const ::onnx::NodeProto &identity : identities) {
      int at = 0;
      for (int i = 0; i < nodes.size(); ++i)
        if (llvm::is_contained(nodes[i].output(), identity.input(0)))
          at = i + 1;
      *nodes.Add() = identity;
      for (int i = nodes.size() - 1; i > at; --i)
        nodes.SwapElements(i, i - 1);
    }
  }

  /// Removes one use of a value.
  void release(const std::string &value) {
    if (value.empty())
      return;
    --reads[value];
    released.insert(value);
  }

  /// Removes nodes whose results have no users left.
  void removeUnread(Nodes &nodes) {
    auto isReleased = [&](const std::string &output) { return released.contains(output); };
    auto isUnread = [&](const ::onnx::NodeProto &node) {
      return !hasSubgraphs(node) && llvm::any_of(node.output(), isReleased) &&
             llvm::all_of(node.output(),
                          [&](const std::string &output) { return reads.lookup(output) == 0; });
    };
    for (int i = nodes.size() - 1; i >= 0; --i) {
      if (!isUnread(nodes[i]))
        continue;
      for (const std::string &input : nodes[i].input())
        release(input);
      for (const std::string &output : nodes[i].output())
        removed.insert(output);
      nodes.DeleteSubrange(i, 1);
    }
  }

  /// Removes the types of results that were removed.
  void removeValues(google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto> &values) const {
    for (int i = values.size() - 1; i >= 0; --i)
      if (removed.contains(values[i].name()))
        values.DeleteSubrange(i, 1);
  }

  int64_t version;
  InferenceForm &form;
  StringMap<int64_t> reads;  ///< Number of uses as operand or output.
  StringMap<bool> constants; ///< Whether a constant is false.
  StringSet<> released;      ///< Values that lost a use.
  StringSet<> removed;       ///< Results that were removed.
};

} // namespace

InferenceForm toInferenceForm(::onnx::ModelProto &model, ::onnx::GraphProto &graph) {
  InferenceForm form;
  Rewriter(coreVersion(model.opset_import()), form).run(graph);
  for (::onnx::FunctionProto &function : *model.mutable_functions())
    Rewriter(coreVersion(function.opset_import()), form).run(function);
  return form;
}

} // namespace mtc::onnx
