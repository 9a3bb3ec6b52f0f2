//===- ImportTest.cpp - Import of valid models ------------------------------------------------===//

#include "test/frontend/onnx/TestModel.h"

#include "frontend/onnx/dialect/Node.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

/// `y = Relu(x)` over `x: [batch, sequence + 1]`.
ModelProto symbolicModel() {
  ModelProto proto = reluModel();
  auto &x = *proto.mutable_graph()->mutable_input(0);
  x.Clear();
  declare(x, "x");
  addDim(x, "batch");
  addDim(x, "sequence + 1");
  return proto;
}

mlir::DenseElementsAttr constantNamed(Imported &result, llvm::StringRef name) {
  for (auto op : result.graph().getBody().getOps<ConstantOp>())
    if (auto location = llvm::dyn_cast<mlir::NameLoc>(op.getLoc()))
      if (location.getName() == name)
        return llvm::cast<mlir::DenseElementsAttr>(op.getValue());
  return {};
}

/// Writes a .npy file of this header and data.
std::string npy(const Folder &folder, const std::string &header, const std::string &data) {
  std::string length = bytesOf<uint16_t>({static_cast<uint16_t>(header.size())});
  return folder.write("array.npy", std::string("\x93NUMPY\x01\x00", 8) + length + header + data);
}

} // namespace

TEST(Import, BindsDimensionsAndExpressions) {
  mtc::ImportOptions options;
  options.dims["batch"] = 8;
  options.dims["sequence"] = 15;
  Imported result(symbolicModel(), options);
  ASSERT_EQ(result.messages(), "");
  auto type = llvm::cast<mlir::RankedTensorType>(result.graph().getArgumentTypes()[0]);
  EXPECT_EQ(type.getShape(), llvm::ArrayRef<int64_t>({8, 16}));
  EXPECT_EQ(result.graph().getArgAttrOfType<mlir::StringAttr>(0, "onnx.name").getValue(), "x");
}

TEST(Import, AsksForAllDimensionsAtOnce) {
  std::string messages = Imported(symbolicModel()).messages();
  EXPECT_THAT(messages,
              HasSubstr("dimension 'batch' of input 'x': unknown size; use --dim batch=N"));
  EXPECT_THAT(messages, HasSubstr("--dim sequence=N"));
}

/// Exporters write such texts in place of a name: axes with equal texts may differ.
TEST(Import, TakesPlaceholdersForUnnamedDimensions) {
  for (const char *text : {"?", "None", "none", "", " ", "-1"}) {
    ModelProto proto = reluModel();
    auto &x = *proto.mutable_graph()->mutable_input(0);
    x.Clear();
    declare(x, "x");
    addDim(x, text);
    addDim(x, text);
    mtc::ImportOptions options;
    options.dims["x.0"] = 48;
    options.dims["x.1"] = 192;
    Imported result(proto, options);
    ASSERT_EQ(result.messages(), "") << text;
    auto type = llvm::cast<mlir::RankedTensorType>(result.graph().getArgumentTypes()[0]);
    EXPECT_EQ(type.getShape(), llvm::ArrayRef<int64_t>({48, 192})) << text;
    EXPECT_THAT(Imported(proto).messages(), HasSubstr("use --dim x.1=N")) << text;
  }
}

TEST(Import, LeavesDimensionsOpenOnRequest) {
  mtc::ImportOptions options;
  options.allowUnboundDimensions = true;
  Imported result(symbolicModel(), options);
  ASSERT_EQ(result.messages(), "");
  auto type = llvm::cast<mlir::RankedTensorType>(result.graph().getArgumentTypes()[0]);
  EXPECT_EQ(type.getNumDynamicDims(), 2);
}

TEST(Import, RefusesDimensionsThatCannotBe) {
  mtc::ImportOptions options;
  options.dims["batch"] = -1;
  options.dims["sequence"] = INT64_MAX;
  std::string messages = Imported(symbolicModel(), options).messages();
  EXPECT_THAT(messages, HasSubstr("--dim batch=-1: expected a size of 0 or more"));
  EXPECT_THAT(messages, HasSubstr("dimension 'sequence + 1' of input 'x': invalid size "
                                  "with the given --dim"));
  options.dims.clear();
  options.dims["batch"] = int64_t(1) << 40;
  options.dims["sequence"] = int64_t(1) << 40;
  EXPECT_THAT(Imported(symbolicModel(), options).messages(),
              HasSubstr("graph input 'x': shape [1099511627776, 1099511627777] of FLOAT is "
                        "larger than 2^48 bytes"));
}

TEST(Import, NamesDimensionsWithoutNameByInputAndAxis) {
  ModelProto proto = symbolicModel();
  auto &shape = *proto.mutable_graph()
                     ->mutable_input(0)
                     ->mutable_type()
                     ->mutable_tensor_type()
                     ->mutable_shape();
  shape.mutable_dim(0)->Clear();
  shape.mutable_dim(1)->set_dim_value(-1);
  EXPECT_THAT(Imported(proto).messages(), HasSubstr("--dim x.0=N"));
  mtc::ImportOptions options;
  options.dims["x.0"] = 2;
  options.dims["x.1"] = 3;
  EXPECT_EQ(Imported(proto, options).messages(), "");
  shape.mutable_dim(1)->set_dim_value(-7);
  EXPECT_THAT(Imported(proto, options).messages(),
              HasSubstr("graph input 'x': dimension 1 is -7, expected 0 or more"));
}

TEST(Import, RefusesInputsThatAreNoTensors) {
  ModelProto proto = reluModel();
  auto &graph = *proto.mutable_graph();
  graph.add_input()->set_name("sequence");
  graph.mutable_input(1)->mutable_type()->mutable_sequence_type();
  graph.add_input()->set_name("untyped");
  declare(*graph.add_input(), "text", TensorProto::STRING);
  auto &unranked = declare(*graph.add_input(), "unranked");
  unranked.mutable_type()->mutable_tensor_type()->clear_shape();
  std::string messages = Imported(proto).messages();
  EXPECT_THAT(messages, HasSubstr("graph input 'sequence' is not a tensor"));
  EXPECT_THAT(messages, HasSubstr("graph input 'untyped' is not a tensor"));
  EXPECT_THAT(messages, HasSubstr("graph input 'text': element type STRING is not supported"));
  EXPECT_THAT(messages, HasSubstr("graph input 'unranked' has no shape"));
}

TEST(Import, BindsInputsToNumbersAndFiles) {
  ModelProto proto = reluModel();
  Folder folder;
  mtc::ImportOptions options;
  options.binds = {{"x", "0.5"}};
  Imported filled(proto, options);
  ASSERT_EQ(filled.messages(), "");
  EXPECT_EQ(filled.graph().getArgumentTypes().size(), 0u);
  EXPECT_EQ(constantNamed(filled, "x").getSplatValue<float>(), 0.5f);

  options.binds = {{"x", "1,2,3,4,5,6"}};
  Imported listed(proto, options);
  ASSERT_EQ(listed.messages(), "");
  EXPECT_EQ(*(constantNamed(listed, "x").getValues<float>().begin() + 4), 5.0f);

  options.binds = {{"x", npy(folder, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                             bytesOf<float>({6, 5, 4, 3, 2, 1}))}};
  Imported file(proto, options);
  ASSERT_EQ(file.messages(), "");
  EXPECT_EQ(*constantNamed(file, "x").getValues<float>().begin(), 6.0f);
}

TEST(Import, RefusesBindsThatDoNotFit) {
  ModelProto proto = reluModel();
  Folder folder;
  auto message = [&](const std::string &value, const std::string &name = "x") {
    mtc::ImportOptions options;
    options.binds = {{name, value}};
    return Imported(proto, options).messages();
  };
  EXPECT_THAT(message("1", "nobody"), HasSubstr("no graph input 'nobody'; the inputs are 'x'"));
  EXPECT_THAT(message("abc"), HasSubstr("--bind x: 'abc' is not a value of type f32"));
  EXPECT_THAT(message("1,2"), HasSubstr("2 values for tensor<2x3xf32>, expected one or 6"));
  EXPECT_THAT(message("/nowhere/a.npy"), HasSubstr("cannot be opened"));
  EXPECT_THAT(message(folder.write("text.npy", "text")), HasSubstr("is not a .npy file"));
  const std::string six = bytesOf<float>({1, 2, 3, 4, 5, 6});
  EXPECT_THAT(
      message(npy(folder, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", six)),
      HasSubstr("holds tensor<3x2xf32>, expected tensor<2x3xf32>"));
  EXPECT_THAT(
      message(npy(folder, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", six)),
      HasSubstr("expected tensor<2x3xf32>"));
  EXPECT_THAT(
      message(npy(folder, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", six)),
      HasSubstr("is in Fortran order"));
  EXPECT_THAT(
      message(npy(folder, "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", six)),
      HasSubstr("is big-endian (dtype >f4)"));
  EXPECT_THAT(
      message(npy(folder, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }", six)),
      HasSubstr("has shape [2, 4] of '<f4' in its header, but only 24 bytes follow"));
  EXPECT_THAT(
      message(npy(folder,
                  "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9), }",
                  six)),
      HasSubstr("damaged or incomplete"));
  EXPECT_THAT(
      message(npy(folder, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", six)),
      HasSubstr("holds 24 bytes of data, but its shape needs 16"));
  EXPECT_THAT(message(npy(folder, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, ", six)),
              HasSubstr("invalid .npy header"));
}

TEST(Import, TakesInitializersOutOfTheInputs) {
  ModelProto proto = reluModel();
  proto.set_ir_version(3);
  auto &w = declare(*proto.mutable_graph()->add_input(), "w");
  addDim(w, 2);
  *proto.mutable_graph()->add_initializer() = floats("w", {2}, {1, 2});
  addNode(*proto.mutable_graph(), "Abs", "abs", {"w"}, {"z"});
  Imported result(proto);
  ASSERT_EQ(result.messages(), "");
  EXPECT_EQ(result.graph().getArgumentTypes().size(), 1u);
  auto initializers = result.graph().getBody().getOps<InitializerOp>();
  ASSERT_EQ(std::distance(initializers.begin(), initializers.end()), 1);
  EXPECT_EQ((*initializers.begin()).getName(), "w");
}

TEST(Import, SaysWhatInitializersAreToldBy) {
  ModelProto proto = dynamoModel({"a.weight", "b.weight"});
  proto.set_producer_name("pytorch");
  addInitializer(proto, "a.weight", {2, 3}, 1, "PARAMETER");
  for (int64_t extent : {2, 3})
    addDim(*proto.mutable_graph()->mutable_value_info(0), extent);
  addInitializer(proto, "large", {200, 100}, 7);
  *proto.mutable_graph()->add_initializer() = external("lost", {2}, {{"location", "w.bin"}});
  addModuleUse(proto, "Mul", "a", {"x", "a.weight"});
  Imported result(proto);
  ASSERT_EQ(result.messages(), "");
  EXPECT_EQ(result.graph()->getAttrOfType<mlir::StringAttr>(producerAttribute), "pytorch");
  EXPECT_EQ(result.graph()->getAttrOfType<mlir::ArrayAttr>(signatureAttribute).size(), 2u);
  auto initializers = llvm::to_vector(result.graph().getBody().getOps<InitializerOp>());
  ASSERT_EQ(initializers.size(), 3u);
  EXPECT_EQ(initializers[0].getKind(), "PARAMETER");
  EXPECT_FALSE(initializers[0].getMissing());
  EXPECT_EQ(initializers[0].getSample()->getNumElements(), 6);
  EXPECT_EQ(initializers[1].getSample()->getNumElements(), 4096) << "the first of a large one";
  EXPECT_EQ(*(initializers[1].getSample()->value_begin<float>() + 1), 8.0f);
  EXPECT_TRUE(initializers[2].getMissing());
  EXPECT_FALSE(initializers[2].getSample());
  NodeOp node = result.nodes()[1];
  EXPECT_EQ(node->getAttrOfType<mlir::IntegerAttr>(indexAttribute).getInt(), 1);
  EXPECT_EQ(node->getAttrOfType<mlir::StringAttr>(moduleAttribute), "a");
}

TEST(Import, MakesConstantsOfIntegers) {
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  TensorProto &integers = *graph.add_initializer() = tensor("shape", {2}, TensorProto::INT64);
  integers.add_int64_data(3);
  integers.add_int64_data(-1);
  *graph.add_initializer() = floats("scalar", {}, {0.5});
  TensorProto &flags = *graph.add_initializer() = tensor("flags", {3}, TensorProto::BOOL);
  flags.set_raw_data(std::string("\x00\x01\x02", 3));
  *graph.add_initializer() = tensor("nothing", {0}, TensorProto::INT64);
  Imported result(proto);
  ASSERT_EQ(result.messages(), "");
  EXPECT_EQ(*(constantNamed(result, "shape").getValues<int64_t>().begin() + 1), -1);
  auto initializers = llvm::to_vector(result.graph().getBody().getOps<InitializerOp>());
  ASSERT_EQ(initializers.size(), 1u) << "a float may be trained";
  EXPECT_EQ(initializers[0].getName(), "scalar");
  EXPECT_EQ(constantNamed(result, "nothing").getNumElements(), 0);
  std::vector<bool> values;
  for (bool value : constantNamed(result, "flags").getValues<bool>())
    values.push_back(value);
  EXPECT_EQ(values, std::vector<bool>({false, true, true}));
}

TEST(Import, ReadsEveryKindOfConstantNode) {
  ModelProto proto = reluModel();
  auto constant = [&](const char *name, const char *kind) -> ::onnx::AttributeProto & {
    auto &attribute =
        *addNode(*proto.mutable_graph(), "Constant", name, {}, {name}).add_attribute();
    attribute.set_name(kind);
    return attribute;
  };
  *constant("tensor", "value").mutable_t() = floats("", {2}, {1, 2});
  constant("float", "value_float").set_f(1.5);
  constant("int", "value_int").set_i(-7);
  constant("floats", "value_floats").add_floats(2.5);
  constant("ints", "value_ints").add_ints(9);
  Imported result(proto);
  ASSERT_EQ(result.messages(), "");
  EXPECT_EQ(constantNamed(result, "tensor").getNumElements(), 2);
  EXPECT_EQ(constantNamed(result, "float").getSplatValue<float>(), 1.5f);
  EXPECT_EQ(constantNamed(result, "int").getSplatValue<int64_t>(), -7);
  EXPECT_EQ(*constantNamed(result, "floats").getValues<float>().begin(), 2.5f);
  EXPECT_EQ(*constantNamed(result, "ints").getValues<int64_t>().begin(), 9);

  constant("string", "value_string").set_s("x");
  *constant("short", "value").mutable_t() = floats("", {3}, {1, 2});
  std::string messages = Imported(proto).messages();
  EXPECT_THAT(messages, HasSubstr("node 'string' (Constant) has a constant of kind "
                                  "'value_string', which is not supported"));
  EXPECT_THAT(messages, HasSubstr("node 'short' (Constant): raw_data has 8 bytes, expected 12"));
}

TEST(Import, KeepsAttributesInTheirKinds) {
  ModelProto proto = reluModel();
  NodeProto &node = *proto.mutable_graph()->mutable_node(0);
  auto add = [&](const char *name,
                 ::onnx::AttributeProto::AttributeType type) -> ::onnx::AttributeProto & {
    auto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  };
  add("i", ::onnx::AttributeProto::INT).set_i(-1);
  add("f", ::onnx::AttributeProto::FLOAT).set_f(0.5);
  add("s", ::onnx::AttributeProto::STRING).set_s("SAME");
  add("is", ::onnx::AttributeProto::INTS).add_ints(4);
  add("fs", ::onnx::AttributeProto::FLOATS).add_floats(4);
  add("ss", ::onnx::AttributeProto::STRINGS).add_strings("a");
  *add("t", ::onnx::AttributeProto::TENSOR).mutable_t() = floats("", {1}, {3});
  add("g", ::onnx::AttributeProto::GRAPH).mutable_g();
  add("ts", ::onnx::AttributeProto::TENSORS);
  Imported result(proto);
  ASSERT_EQ(result.messages(), "");
  NodeOp op = result.nodes()[0];
  mlir::DictionaryAttr attributes = op.getNodeAttributes();
  EXPECT_EQ(llvm::cast<mlir::IntegerAttr>(attributes.get("i")).getSInt(), -1);
  EXPECT_TRUE(llvm::isa<mlir::FloatAttr>(attributes.get("f")));
  EXPECT_EQ(llvm::cast<mlir::StringAttr>(attributes.get("s")).getValue(), "SAME");
  EXPECT_TRUE(llvm::isa<mlir::DenseI64ArrayAttr>(attributes.get("is")));
  EXPECT_TRUE(llvm::isa<mlir::DenseF32ArrayAttr>(attributes.get("fs")));
  EXPECT_TRUE(llvm::isa<mlir::ArrayAttr>(attributes.get("ss")));
  EXPECT_TRUE(llvm::isa<mlir::DenseElementsAttr>(attributes.get("t")));
  EXPECT_FALSE(attributes.get("g"));
  EXPECT_TRUE(op.getGraph("g"));
  auto unsupported = op->getAttrOfType<mlir::DictionaryAttr>("unsupported_attributes");
  ASSERT_TRUE(unsupported);
  EXPECT_EQ(unsupported.getAs<mlir::StringAttr>("ts").getValue(), "TENSORS");
  EXPECT_FALSE(unsupported.get("g"));
}

TEST(Import, KeepsSubgraphsAsRegions) {
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  *graph.add_initializer() = floats("w", {3}, {1, 2, 3});
  NodeProto &node = addNode(graph, "Loop", "loop", {"", "", "y"}, {"z"});
  GraphProto &body = addSubgraph(node, "body", {"i", "c", "v"}, {"c", "t"});
  *body.add_initializer() = floats("w", {3}, {4, 5, 6}); // Hides that of the graph around it.
  addNode(body, "Mul", "", {"v", "w"}, {"s"});
  addNode(body, "Add", "add", {"s", "x"}, {"t"});
  *graph.mutable_output(0)->mutable_name() = "z";
  Imported result(proto);
  ASSERT_EQ(result.messages(), "");
  std::vector<std::string> names;
  for (auto initializer : result.graph().getBody().getOps<InitializerOp>())
    names.push_back(initializer.getName().str());
  EXPECT_EQ(names, (std::vector<std::string>{"w", "w.2"}));
  NodeOp loop = result.nodes()[1];
  mlir::Region *region = loop.getGraph("body");
  ASSERT_TRUE(region);
  auto inner = llvm::to_vector(region->getOps<NodeOp>());
  ASSERT_EQ(inner.size(), 2u);
  EXPECT_EQ(inner[0].getInputs()[0], region->getArgument(2));
  EXPECT_EQ(inner[0].getInputs()[1].getDefiningOp<InitializerOp>().getName(), "w.2");
  EXPECT_EQ(inner[1].getInputs()[1], result.graph().getArgument(0)) << "a value from outside";
  EXPECT_EQ(nodeName(inner[0]), "loop/Mul_0");
  EXPECT_EQ(nodeName(inner[1]), "add");
  auto path = inner[1]->getAttrOfType<mlir::DenseI64ArrayAttr>(pathAttribute);
  EXPECT_EQ(path.asArrayRef(), llvm::ArrayRef<int64_t>({1, 0, 1}));
  EXPECT_EQ(result.graph()->getAttrOfType<mlir::ArrayAttr>(subgraphNamesAttribute).size(), 6u);
}

TEST(Import, SaysInWhichSubgraphAProblemIs) {
  ModelProto proto = reluModel();
  NodeProto &node = addNode(*proto.mutable_graph(), "If", "if", {"y"}, {"z"});
  GraphProto &branch = addSubgraph(node, "then_branch", {}, {"t"});
  addNode(branch, "Neg", "neg", {"y"}, {"t"}).set_domain("com.example");
  EXPECT_THAT(Imported(proto).messages(),
              HasSubstr("node 'neg' (com.example.Neg), in 'then_branch' of node 'if' (If): the "
                        "model imports no opset of domain 'com.example'"));
}

TEST(Import, AllowsDeclarationsOfInnerSequences) {
  ModelProto proto = reluModel();
  ::onnx::ValueInfoProto &inner = *proto.mutable_graph()->add_value_info();
  inner.set_name("s");
  inner.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type();
  NodeProto &node = addNode(*proto.mutable_graph(), "SequenceConstruct", "", {"y"}, {"s"});
  EXPECT_EQ(Imported(proto).messages(), "");
  node.set_op_type("Neg"); // Has no sequences.
  EXPECT_THAT(Imported(proto).messages(), HasSubstr("value 's' is declared as a sequence"));
  node.set_op_type("SequenceConstruct");
  *proto.mutable_graph()->mutable_output(0)->mutable_type() = inner.type();
  EXPECT_THAT(Imported(proto).messages(), HasSubstr("value 'y' is declared as a sequence"));
}

TEST(Import, NamesNodesByTheirModules) {
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  auto *scopes = graph.mutable_node(0)->add_metadata_props();
  scopes->set_key("pkg.torch.onnx.name_scopes");
  scopes->set_value("['', 'model', 'model.layers.0', 'relu_3']");
  addNode(graph, "Abs", "/h.0/attn/Abs", {"y"}, {"a"});
  addNode(graph, "Neg", "", {"a"}, {"b"});
  Imported result(proto);
  ASSERT_EQ(result.messages(), "");
  auto nameOf = [&](size_t index) {
    return llvm::cast<mlir::NameLoc>(result.nodes()[index].getLoc()).getName().getValue();
  };
  EXPECT_EQ(nameOf(0), "model.layers.0/Relu");
  EXPECT_EQ(nameOf(1), "/h.0/attn/Abs");
  EXPECT_EQ(nameOf(2), "Neg_2");
}

TEST(Import, GivesNamesToNodesAndValuesOnly) {
  Imported result(reluModel());
  ASSERT_EQ(result.messages(), "");
  // A name in a location is printed like the name of a node.
  EXPECT_TRUE(llvm::isa<mlir::UnknownLoc>(result.module->getLoc()));
  EXPECT_TRUE(llvm::isa<mlir::UnknownLoc>(result.graph().getLoc()));
}

TEST(Import, LeavesOutWhatIsLeftOut) {
  ModelProto proto = reluModel();
  addNode(*proto.mutable_graph(), "Clip", "clip", {"y", "", "x"}, {"c", ""});
  Imported result(proto);
  ASSERT_EQ(result.messages(), "");
  NodeOp clip = result.nodes()[1];
  EXPECT_TRUE(llvm::isa<mlir::NoneType>(clip.getInputs()[1].getType()));
  EXPECT_TRUE(llvm::isa<mlir::NoneType>(clip.getOutputs()[1].getType()));
}

TEST(Import, TakesDeclaredTypes) {
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  addNode(graph, "Abs", "abs", {"y"}, {"z"});
  auto &huge = declare(*graph.add_value_info(), "z");
  addDim(huge, INT64_MAX);
  addDim(huge, -1);
  addDim(huge, INT64_MAX);
  auto &y = *graph.mutable_output(0);
  addDim(y, 2);
  addDim(y, "unknown");
  Imported result(proto);
  ASSERT_EQ(result.messages(), "");
  auto type = llvm::cast<mlir::RankedTensorType>(result.nodes()[0].getOutputs()[0].getType());
  EXPECT_EQ(type.getDimSize(0), 2);
  EXPECT_TRUE(type.isDynamicDim(1));
  EXPECT_TRUE(llvm::isa<mlir::UnrankedTensorType>(result.nodes()[1].getOutputs()[0].getType()));
}

TEST(Import, RefusesDeclarationsThatCannotBe) {
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  addDim(declare(*graph.add_value_info(), "negative"), INT64_MIN);
  declare(*graph.add_value_info(), "text", TensorProto::STRING);
  declare(*graph.add_value_info(), "nonsense", 99);
  declare(*graph.add_value_info(), "both");
  declare(*graph.add_value_info(), "both", TensorProto::INT64);
  auto &list = *graph.add_value_info();
  list.set_name("list");
  list.mutable_type()->mutable_map_type();
  *graph.add_initializer() = floats("w", {2}, {1, 2});
  addDim(declare(*graph.add_value_info(), "w"), 3);
  auto &x = declare(*graph.add_value_info(), "x");
  addDim(x, 2);
  addDim(x, 4);
  addNode(graph, "Constant", "constant", {}, {"c"});
  auto &value = *graph.mutable_node(1)->add_attribute();
  value.set_name("value_int");
  value.set_type(::onnx::AttributeProto::INT);
  value.set_i(1);
  declare(*graph.add_value_info(), "c");
  Imported result(proto);
  std::string messages = result.messages();
  for (const char *part :
       {"value 'negative' is declared with an extent of -9223372036854775808, expected 0 or more",
        "value 'text' is declared with elements of type STRING, expected numbers or booleans",
        "value 'nonsense' is declared with elements of type 99",
        "value 'both' is declared as tensor<f32> and as tensor<i64>",
        "value 'list' is declared as a sequence, map, optional or sparse value",
        "initializer 'w' has type tensor<2xf32>, but the file declares tensor<3xf32>",
        "graph input 'x' has type tensor<2x3xf32>, but the file declares tensor<2x4xf32>",
        "node 'constant' (Constant) has type tensor<i64>, but the file declares tensor<f32>"})
    EXPECT_THAT(messages, HasSubstr(part));
}

TEST(Import, RefusesAttributesWhoseKindIsNotTheirValues) {
  ModelProto proto = reluModel();
  NodeProto &node = *proto.mutable_graph()->mutable_node(0);
  auto add = [&](const char *name, ::onnx::AttributeProto::AttributeType type) -> auto & {
    auto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  };
  add("float", ::onnx::AttributeProto::FLOAT).set_i(1);
  auto &two = add("two", ::onnx::AttributeProto::INT);
  two.set_i(1);
  two.set_f(1);
  add("zero", ::onnx::AttributeProto::INT); // written by files that leave out what is 0
  NodeProto &constant = addNode(*proto.mutable_graph(), "Constant", "constant", {}, {"c"});
  auto &value = *constant.add_attribute();
  value.set_name("value");
  value.set_type(::onnx::AttributeProto::FLOAT);
  value.set_f(1);
  Imported result(proto);
  std::string messages = result.messages();
  EXPECT_THAT(messages, HasSubstr("attribute 'float' of node 'relu' (Relu) is of kind FLOAT, but "
                                  "its value is of kind INT"));
  EXPECT_THAT(messages, HasSubstr("attribute 'two' of node 'relu' (Relu) has 2 values, of kinds "
                                  "FLOAT and INT, expected one"));
  EXPECT_THAT(messages, HasSubstr("attribute 'value' of node 'constant' (Constant) is of kind "
                                  "FLOAT, expected TENSOR"));
  EXPECT_THAT(messages, Not(HasSubstr("zero")));
}
