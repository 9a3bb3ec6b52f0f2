//===- TestModel.h - Small models built and read in tests -------------------------------------===//

#ifndef MTC_TEST_FRONTEND_TESTMODEL_H
#define MTC_TEST_FRONTEND_TESTMODEL_H

#include "frontend/onnx/dialect/Onnx.h"
#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/parameters/Parameters.h"
#include "frontend/onnx/reader/Export.h"
#include "frontend/onnx/reader/Import.h"
#include "frontend/onnx/reader/Model.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "onnx-ml.pb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace mtc::onnx::test {

using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

/// A temporary folder, removed at the end of its scope.
class Folder {
public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mtc-reader-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const { return (path / name).string(); }

  std::string write(const std::string &name, const std::string &bytes) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << bytes;
    return *this / name;
  }

private:
  std::filesystem::path path;
};

/// Returns the bytes of numbers.
template <typename T> std::string bytesOf(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char *>(std::data(values)), sizeof(T) * values.size());
}

inline TensorProto tensor(const std::string &name, std::initializer_list<int64_t> dims,
                          int32_t type = TensorProto::FLOAT) {
  TensorProto result;
  result.set_name(name);
  result.set_data_type(type);
  for (int64_t dim : dims)
    result.add_dims(dim);
  return result;
}

inline TensorProto floats(const std::string &name, std::initializer_list<int64_t> dims,
                          std::initializer_list<float> values) {
  TensorProto result = tensor(name, dims);
  result.set_raw_data(bytesOf(values));
  return result;
}

inline TensorProto external(const std::string &name, std::initializer_list<int64_t> dims,
                            std::initializer_list<std::pair<std::string, std::string>> entries) {
  TensorProto result = tensor(name, dims);
  result.set_data_location(TensorProto::EXTERNAL);
  for (const auto &[key, value] : entries) {
    auto *entry = result.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  return result;
}

inline void addDim(::onnx::ValueInfoProto &value, int64_t dim) {
  value.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(dim);
}
inline void addDim(::onnx::ValueInfoProto &value, const std::string &dim) {
  value.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_param(dim);
}

inline ::onnx::ValueInfoProto &declare(::onnx::ValueInfoProto &value, const std::string &name,
                                       int32_t type = TensorProto::FLOAT) {
  value.set_name(name);
  value.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  value.mutable_type()->mutable_tensor_type()->mutable_shape();
  return value;
}

template <typename Owner>
NodeProto &addNode(Owner &owner, const std::string &op, const std::string &name,
                   std::initializer_list<const char *> inputs,
                   std::initializer_list<const char *> outputs) {
  NodeProto &node = *owner.add_node();
  node.set_op_type(op);
  node.set_name(name);
  for (const char *input : inputs)
    node.add_input(input);
  for (const char *output : outputs)
    node.add_output(output);
  return node;
}

/// Adds an attribute of kind GRAPH with these inputs and outputs.
inline GraphProto &addSubgraph(NodeProto &node, const std::string &name,
                               std::initializer_list<const char *> inputs = {},
                               std::initializer_list<const char *> outputs = {}) {
  auto &attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::GRAPH);
  attribute.mutable_g()->set_name(name);
  for (const char *input : inputs)
    attribute.mutable_g()->add_input()->set_name(input);
  for (const char *output : outputs)
    attribute.mutable_g()->add_output()->set_name(output);
  return *attribute.mutable_g();
}

inline void setInteger(NodeProto &node, const char *name, int64_t value) {
  auto &attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::INT);
  attribute.set_i(value);
}

/// Adds an entry to the metadata of a graph, a node or a value.
template <typename Owner>
void setMetadata(Owner &owner, const char *key, const std::string &value) {
  auto &entry = *owner.add_metadata_props();
  entry.set_key(key);
  entry.set_value(value);
}

/// Adds the module's parameters as PyTorch's newer exporter lists them: lines such as `p_fc_weight:
/// PARAMETER target='fc.weight'`.
inline void setSignature(ModelProto &proto, const std::string &lines) {
  setMetadata(*proto.mutable_graph(), "pkg.torch.export.ExportedProgram.graph_signature", lines);
}

/// Adds the metadata of the FX node from which a node was exported: `linear.default](args = (%x,
/// %p_w), kwargs = {})`, after the operator's namespace.
inline void setCall(NodeProto &node, const std::string &call) {
  setMetadata(node, "pkg.torch.onnx.fx_node",
              "%call : [num_users=1] = call_function[target=torch.ops.aten." + call);
}

/// `y = Relu(x)` over `x: [2, 3]`, opset 18.
inline ModelProto reluModel() {
  ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(18);
  GraphProto &graph = *model.mutable_graph();
  graph.set_name("g");
  auto &x = declare(*graph.add_input(), "x");
  addDim(x, 2);
  addDim(x, 3);
  declare(*graph.add_output(), "y");
  addNode(graph, "Relu", "relu", {"x"}, {"y"});
  return model;
}

/// A model as PyTorch's newer exporter writes it, with these parameters in its signature.
inline ModelProto dynamoModel(std::initializer_list<const char *> parameters) {
  ModelProto proto = reluModel();
  std::string signature = "\n# inputs\n";
  for (std::string name : parameters)
    signature += "p_x: PARAMETER target='" + name + "'\n";
  setSignature(proto, signature);
  return proto;
}

/// A model of `mtc.export` with these parameters of 2 x 3 elements.
inline ModelProto moduleModel(std::initializer_list<const char *> parameters) {
  ModelProto proto = reluModel();
  std::string list;
  for (std::string name : parameters)
    list += (list.empty() ? "" : ",") + ("{\"name\":\"" + name + "\",\"shape\":[2,3]}");
  auto &entry = *proto.add_metadata_props();
  entry.set_key("mtc.module");
  entry.set_value("{\"format\":1,\"parameters\":[" + list + "]}");
  return proto;
}

/// Adds the function `local.NAME` to the model.
inline ::onnx::FunctionProto &addFunction(ModelProto &model, const std::string &name,
                                          std::initializer_list<const char *> inputs,
                                          const char *output) {
  auto &function = *model.add_functions();
  function.set_domain("local");
  function.set_name(name);
  for (const char *input : inputs)
    function.add_input(input);
  function.add_output(output);
  function.add_opset_import()->set_version(18);
  auto &domain = *model.add_opset_import();
  domain.set_domain("local");
  domain.set_version(1);
  return function;
}

/// Adds an initializer with elements `value`, `value` + 1, …; `kind` is the exporter's kind of the
/// tensor.
inline TensorProto &addInitializer(ModelProto &proto, const std::string &name,
                                   std::initializer_list<int64_t> dims, float value = 0,
                                   const char *kind = nullptr) {
  TensorProto &result = *proto.mutable_graph()->add_initializer() = tensor(name, dims);
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  for (int64_t i = 0; i < count; ++i)
    result.add_float_data(value + float(i));
  if (kind) {
    auto &info = declare(*proto.mutable_graph()->add_value_info(), name);
    setMetadata(info, "pkg.torch.export.graph_signature.InputSpec.kind", kind);
  }
  return result;
}

/// Adds the metadata with which the newer exporter records the folded operands of an initializer.
inline void setOrigins(ModelProto &proto, const char *name, const char *origins) {
  setMetadata(declare(*proto.mutable_graph()->add_value_info(), name),
              "pkg.onnxscript.optimizer.folded_from", origins);
}

/// Adds a node of a module.
inline NodeProto &addModuleUse(ModelProto &proto, const char *op, const char *module,
                               std::initializer_list<const char *> inputs) {
  static int count = 0;
  std::string output = "v" + std::to_string(++count);
  NodeProto &node = addNode(*proto.mutable_graph(), op, output, inputs, {output.c_str()});
  setMetadata(node, "pkg.torch.onnx.name_scopes", std::string("['', '") + module + "', 'op']");
  return node;
}

/// A model that is written to a temporary folder, read and imported.
class Imported {
public:
  explicit Imported(const ModelProto &proto, const ImportOptions &options = {}) {
    import(folder.write("model.onnx", proto.SerializeAsString()), options);
  }
  /// Imports a file without changes.
  Imported(const std::string &path, const ImportOptions &options = {}) { import(path, options); }

  /// All messages, one per line.
  std::string messages() const {
    std::string text;
    for (const std::string &message : problems.get())
      text += message + "\n";
    return text;
  }
  bool failed() const { return !module; }

  onnx::GraphOp graph() { return *module->getOps<onnx::GraphOp>().begin(); }
  std::vector<onnx::NodeOp> nodes() {
    auto range = graph().getBody().getOps<onnx::NodeOp>();
    return {range.begin(), range.end()};
  }

  mlir::MLIRContext context;
  Problems problems;
  Folder folder;
  std::unique_ptr<Model> model;
  mlir::OwningOpRef<mlir::ModuleOp> module; // Null after problems.

private:
  void import(const std::string &path, const ImportOptions &options) {
    model = Model::read(path, problems);
    if (!model)
      return;
    module = importModel(*model, context, options, problems);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
    if (!problems.empty())
      module = {};
  }
};

/// The flags `--tie` and `--untie`.
struct TieTexts {
  std::vector<std::string> tie, untie;
};

/// A model that is processed like by `mtc compile`, up to the selection of its parameters.
class Chosen {
public:
  explicit Chosen(const ModelProto &proto, const ParameterPatterns &patterns = {},
                  mtc::SharedInitializerPolicy merged = mtc::SharedInitializerPolicy::Auto)
      : Chosen(proto, ParameterChoices{merged, {}, {}, patterns}) {}
  Chosen(const ModelProto &proto, const TieTexts &ties)
      : Chosen(proto,
               ParameterChoices{mtc::SharedInitializerPolicy::Auto, ties.tie, ties.untie, {}}) {}
  Chosen(const ModelProto &proto, const ParameterChoices &choices) {
    Problems unread;
    model = Model::read(folder.write("model.onnx", proto.SerializeAsString()), unread);
    EXPECT_TRUE(unread.empty());
    module = importModel(*model, context, {}, unread);
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      collect(diagnostic);
      return mlir::success();
    });
    mlir::PassManager manager(&context);
    buildParametersPipeline(manager, choices);
    EXPECT_EQ(mlir::succeeded(manager.run(*module)), problems.empty());
    classes = chosenClasses(graph());
  }

  GraphOp graph() { return *module->getOps<GraphOp>().begin(); }
  InitializerRole role(const char *name) { return classes.find(name)->second.role; }
  std::string moduleName(const char *name) { return classes.find(name)->second.moduleName; }
  /// Returns the data of an initializer of the file.
  llvm::Expected<llvm::ArrayRef<char>> operator()(llvm::StringRef name) {
    return model->initializerBytes(name);
  }

  /// Returns the ONNX file that a program would export.
  ModelProto exported() {
    llvm::StringSet<> none;
    auto segments = exportSegments(*model, findAddedInitializers(graph()), none);
    ModelProto proto;
    EXPECT_TRUE(bool(segments) && proto.ParseFromString(segments->front().bytes));
    return proto;
  }

  mlir::MLIRContext context;
  Folder folder;
  std::unique_ptr<Model> model;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<std::string> notes, warnings, problems;
  llvm::StringMap<InitializerClass> classes;

private:
  void collect(mlir::Diagnostic &diagnostic) {
    switch (diagnostic.getSeverity()) {
    case mlir::DiagnosticSeverity::Error:
      return problems.push_back(diagnostic.str());
    case mlir::DiagnosticSeverity::Warning:
      return warnings.push_back(diagnostic.str());
    default:
      return notes.push_back(diagnostic.str());
    }
  }
};

} // namespace mtc::onnx::test

#endif // MTC_TEST_FRONTEND_TESTMODEL_H
