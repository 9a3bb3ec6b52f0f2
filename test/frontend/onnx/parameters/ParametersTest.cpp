//===- ParametersTest.cpp - Classification of initializers ------------------------------------===//

#include "test/frontend/onnx/TestModel.h"

#include "frontend/onnx/parameters/FoldedNormalizations.h"
#include "frontend/onnx/parameters/PossibleBuffers.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {

struct Classified : Chosen {
  explicit Classified(const ModelProto &proto, const mtc::ParameterPatterns &patterns = {})
      : Chosen(proto, patterns, mtc::SharedInitializerPolicy::Keep) {}
};

constexpr auto parameter = InitializerRole::Parameter, constant = InitializerRole::Constant,
               state = InitializerRole::State, frozen = InitializerRole::Frozen;

} // namespace

TEST(Parameters, AreAllOfRankOneWithoutASignature) {
  ModelProto proto = reluModel();
  addInitializer(proto, "w", {2, 2});
  addInitializer(proto, "b", {2});
  addInitializer(proto, "eps", {});
  addInitializer(proto, "onnx::MatMul_7", {2, 2});
  addNode(*proto.mutable_graph(), "MatMul", "/head/MatMul", {"x", "onnx::MatMul_7"}, {"z"});
  *proto.mutable_graph()->add_initializer() = tensor("ids", {0}, TensorProto::INT64);
  Classified result(proto);
  EXPECT_EQ(result.role("w"), parameter);
  EXPECT_EQ(result.role("b"), parameter);
  EXPECT_EQ(result.role("eps"), constant);
  EXPECT_EQ(result.moduleName("onnx::MatMul_7"), "head.weight");
  EXPECT_FALSE(result.classes.contains("ids"));
}

TEST(Parameters, AreScalarsThatFunctionsRead) {
  ModelProto proto = reluModel();
  proto.set_producer_name("pytorch");
  for (const char *name : {"logit_scale", "bound", "both", "/Constant_output_0"})
    addInitializer(proto, name, {});
  GraphProto &graph = *proto.mutable_graph();
  addNode(graph, "Exp", "/Exp", {"logit_scale"}, {"scale"});
  addNode(graph, "Sigmoid", "/Sigmoid", {"both"}, {"gate"});
  addNode(graph, "Exp", "/Exp_1", {"/Constant_output_0"}, {"e"});
  addNode(graph, "Mul", "/Mul", {"x", "bound"}, {"b"});
  EXPECT_EQ(Classified(proto).role("logit_scale"), parameter);
  EXPECT_EQ(Classified(proto).role("/Constant_output_0"), constant);
  EXPECT_EQ(Classified(proto).role("bound"), constant);
  EXPECT_EQ(Classified(proto).role("both"), parameter);
  addNode(graph, "Mul", "/Mul_1", {"x", "both"}, {"c"});
  EXPECT_EQ(Classified(proto).role("both"), constant);
  proto.set_producer_name("keras");
  EXPECT_EQ(Classified(proto).role("logit_scale"), constant);
}

TEST(Parameters, AreNoConstantNodesThatAnOptimizerStored) {
  ModelProto proto = reluModel();
  proto.set_producer_name("onnxruntime");
  for (const char *name :
       {"/Constant_output_0", "/attn/Constant_12_output_0", "/attn/Constant_output_1",
        "/attn/Constant_w_output_0", "/attn/Constants_output_0", "/attn/Mul_output_0"})
    addInitializer(proto, name, {1});
  GraphProto &graph = *proto.mutable_graph();
  addNode(graph, "Mul", "/attn/Mul_1", {"x", "/attn/Constant_12_output_0"}, {"scaled"});
  Classified result(proto);
  EXPECT_EQ(result.role("/Constant_output_0"), constant);
  EXPECT_EQ(result.role("/attn/Constant_12_output_0"), constant);
  EXPECT_FALSE(result.classes["/attn/Constant_12_output_0"].looksTrainable);
  for (const char *name : {"/attn/Constant_output_1", "/attn/Constant_w_output_0",
                           "/attn/Constants_output_0", "/attn/Mul_output_0"})
    EXPECT_EQ(result.role(name), parameter) << name;
  EXPECT_EQ(Classified(proto, {{"/Constant_output_0"}, {}, false}).role("/Constant_output_0"),
            parameter);
}

TEST(Parameters, AreNoScalesOfQuantizedTensors) {
  ModelProto proto = reluModel();
  for (const char *name : {"scale", "both", "factor"})
    addInitializer(proto, name, {2});
  GraphProto &graph = *proto.mutable_graph();
  *graph.add_initializer() = tensor("codes", {0}, TensorProto::INT8);
  addNode(graph, "QuantizeLinear", "quantize", {"x", "scale"}, {"q"});
  addNode(graph, "DequantizeLinear", "dequantize", {"q", "scale"}, {"d"});
  addNode(graph, "DequantizeLinear", "weight", {"codes", "both"}, {"w"});
  addNode(graph, "Mul", "used", {"x", "both"}, {"m"});
  addNode(graph, "DequantizeLinear", "zero", {"codes", "scale", "factor"}, {"z"});
  Classified result(proto);
  EXPECT_EQ(result.role("scale"), constant);
  EXPECT_FALSE(result.classes["scale"].looksTrainable);
  EXPECT_EQ(result.role("both"), parameter);
  EXPECT_EQ(result.role("factor"), parameter);
  EXPECT_EQ(Classified(proto, {{"scale"}, {}, false}).role("scale"), parameter);
}

TEST(Parameters, AreWhatTheSignatureSays) {
  ModelProto proto = dynamoModel({"a.weight", "b.weight"});
  addInitializer(proto, "a.weight", {2}, 0, "PARAMETER");
  addInitializer(proto, "buffer", {2, 2}, 0, "BUFFER");
  addInitializer(proto, "val_1", {2, 2});
  addInitializer(proto, "val_2", {2});
  addInitializer(proto, "unsqueeze_1", {1, 8});
  addModuleUse(proto, "MatMul", "b", {"x", "val_1"});
  Classified result(proto);
  EXPECT_EQ(result.role("a.weight"), parameter);
  EXPECT_EQ(result.role("buffer"), constant);
  EXPECT_EQ(result.role("val_1"), parameter);
  EXPECT_EQ(result.moduleName("val_1"), "b.weight");
  EXPECT_EQ(result.role("val_2"), constant);
  EXPECT_EQ(result.role("unsqueeze_1"), constant);
}

TEST(Parameters, StatisticsAreStateThroughIdentitiesAndFunctions) {
  ModelProto proto = reluModel();
  for (const char *name : {"scale", "bias", "mean", "var"})
    addInitializer(proto, name, {2});
  auto &function = addFunction(proto, "Norm", {"x", "s", "b", "m", "v"}, "y");
  addNode(function, "BatchNormalization", "bn", {"x", "s", "b", "m", "v"}, {"y"});
  addNode(*proto.mutable_graph(), "Identity", "copy", {"mean"}, {"mean2"});
  addNode(*proto.mutable_graph(), "Norm", "call", {"x", "scale", "bias", "mean2", "var"}, {"z"})
      .set_domain("local");
  Classified result(proto);
  EXPECT_EQ(result.role("scale"), parameter);
  EXPECT_EQ(result.role("bias"), parameter);
  EXPECT_EQ(result.role("mean"), state);
  EXPECT_EQ(result.role("var"), state);
}

TEST(Parameters, FollowThePatterns) {
  ModelProto proto = dynamoModel({"body.weight", "head.weight"});
  addInitializer(proto, "body.weight", {2, 2}, 0, "PARAMETER");
  addInitializer(proto, "body.bias", {2}, 0, "PARAMETER");
  addInitializer(proto, "val_3", {2, 2});
  addInitializer(proto, "buffer", {2}, 0, "BUFFER");
  addModuleUse(proto, "MatMul", "head", {"x", "val_3"});
  Classified head(proto, {{"head.*"}, {"*"}});
  EXPECT_TRUE(head.problems.empty());
  EXPECT_EQ(head.role("body.weight"), frozen);
  EXPECT_EQ(head.role("buffer"), constant) << "what is no parameter is not frozen either";
  EXPECT_EQ(head.role("val_3"), parameter) << "by its name in the module";
  EXPECT_EQ(head.classes["body.bias"].reason, "--freeze *");
  Classified bodies(proto, {{"*"}, {"body.b*"}});
  EXPECT_EQ(bodies.role("body.weight"), parameter);
  EXPECT_EQ(bodies.role("body.bias"), frozen);
  EXPECT_EQ(bodies.role("buffer"), constant) << "a wildcard takes no buffers";
  Classified buffer(proto, {{"buffer"}, {}});
  EXPECT_EQ(buffer.role("buffer"), parameter);
}

TEST(Parameters, AreTrainedAloneWhereAPatternNamesThem) {
  ModelProto proto = reluModel();
  for (const char *name : {"a.weight", "a.bias", "b.weight", "b.bias"})
    addInitializer(proto, name, {2, 2});
  Classified one(proto, {{"b.weight"}, {}});
  EXPECT_TRUE(one.problems.empty());
  EXPECT_EQ(one.role("b.weight"), parameter);
  for (const char *name : {"a.weight", "a.bias", "b.bias"}) {
    EXPECT_EQ(one.role(name), frozen) << name;
    EXPECT_EQ(one.classes[name].reason, "no --train pattern matches it");
    EXPECT_TRUE(one.classes[name].isParameter);
  }
  Classified both(proto, {{"b.*"}, {"*.bias"}});
  EXPECT_EQ(both.role("b.weight"), parameter);
  EXPECT_EQ(both.role("b.bias"), frozen) << "the pattern with more literal characters decides";
  Classified equal(proto, {{"a.*"}, {"a.*"}});
  EXPECT_EQ(equal.role("a.weight"), frozen) << "--freeze decides among equals";
}

TEST(Parameters, RefusesPatternsThatDoNothing) {
  ModelProto proto = reluModel();
  addInitializer(proto, "w", {2, 2});
  *proto.mutable_graph()->add_initializer() = tensor("ids", {0}, TensorProto::INT64);
  Classified result(proto, {{"ids", "absent*"}, {"[", "nobody"}});
  std::string messages;
  for (const std::string &message : result.problems)
    messages += message + "\n";
  EXPECT_THAT(messages,
              HasSubstr("--train ids: cannot be trained; expected a floating-point tensor"));
  EXPECT_THAT(messages, HasSubstr("--train absent*: no initializer matches\n"));
  EXPECT_THAT(messages, HasSubstr("--freeze nobody: no initializer matches\n"));
  EXPECT_THAT(messages, HasSubstr("--freeze [: "));
}

TEST(Parameters, SuggestsNamesThatAPatternNearlyMatches) {
  ModelProto proto = dynamoModel({"layers.0.weight", "head.weight"});
  addInitializer(proto, "layers.0.weight", {2, 2}, 0, "PARAMETER");
  addInitializer(proto, "table", {2, 2}, 0, "BUFFER");
  addInitializer(proto, "val_1", {2, 2});
  addModuleUse(proto, "MatMul", "head", {"x", "val_1"});
  Classified result(proto, {{"layer.0.weight", "heads.weight", "tab*"}, {"*.wieght"}});
  EXPECT_THAT(result.problems,
              ElementsAre("--train layer.0.weight: no initializer matches; did you mean "
                          "'layers.0.weight'?",
                          "--train heads.weight: no initializer matches; did you mean "
                          "'head.weight'?",
                          "--train tab*: matches only constants that do not look trainable, such "
                          "as 'table'; use a full name to train one",
                          "--freeze *.wieght: no initializer matches"));
}

TEST(Parameters, KnowsMovingStatisticsOfNormalizationsInParts) {
  ModelProto proto = reluModel();
  for (const char *name : {"gamma", "beta", "mean", "variance", "gamma2", "beta2", "mean2",
                           "variance2", "bn/moving_mean:0", "weight", "offset"})
    addInitializer(proto, name, {3});
  addInitializer(proto, "epsilon", {}, 1e-3f);
  GraphProto &graph = *proto.mutable_graph();
  // y = x * s + (beta - mean * s), s = gamma / sqrt(variance + epsilon)
  addNode(graph, "Add", "shift", {"variance", "epsilon"}, {"shifted"});
  addNode(graph, "Sqrt", "root", {"shifted"}, {"deviation"});
  addNode(graph, "Reciprocal", "inverse", {"deviation"}, {"inverted"});
  addNode(graph, "Mul", "scale", {"inverted", "gamma"}, {"s"});
  addNode(graph, "Mul", "scaleX", {"x", "s"}, {"xs"});
  addNode(graph, "Mul", "scaleMean", {"mean", "s"}, {"ms"});
  addNode(graph, "Sub", "bias", {"beta", "ms"}, {"b"});
  addNode(graph, "Add", "sum", {"xs", "b"}, {"n"});
  // y = (x - mean) / sqrt(epsilon + variance) * gamma + beta
  addNode(graph, "Identity", "copy", {"mean2"}, {"mean2 too"});
  addNode(graph, "Sub", "centre", {"n", "mean2 too"}, {"c"});
  addNode(graph, "Add", "shift2", {"epsilon", "variance2"}, {"shifted2"});
  addNode(graph, "Sqrt", "root2", {"shifted2"}, {"deviation2"});
  addNode(graph, "Div", "divide", {"c", "deviation2"}, {"d"});
  addNode(graph, "Mul", "scale2", {"d", "gamma2"}, {"g"});
  addNode(graph, "Add", "bias2", {"g", "beta2"}, {"n2"});
  // Other operands that are subtracted or multiplied are parameters, and so are those with a shift
  // that is too large for an epsilon, or with another power.
  addInitializer(proto, "shifted far", {3});
  addInitializer(proto, "shifted by one", {3});
  addInitializer(proto, "shift of one", {1}, 1e-3f);
  addInitializer(proto, "cubed", {3});
  addInitializer(proto, "half", {}, 0.5f);
  addInitializer(proto, "three", {}, 3.0f);
  addNode(graph, "Add", "far", {"shifted far", "half"}, {"f"});
  addNode(graph, "Sqrt", "root3", {"f"}, {"rf"});
  addNode(graph, "Add", "one", {"shifted by one", "shift of one"}, {"so"});
  addNode(graph, "Sqrt", "root4", {"so"}, {"rso"});
  addNode(graph, "Add", "near", {"cubed", "epsilon"}, {"q"});
  addNode(graph, "Pow", "cube", {"q", "three"}, {"qqq"});
  addNode(graph, "Sub", "offset", {"n2", "offset"}, {"o"});
  addNode(graph, "Mul", "weigh", {"o", "weight"}, {"w"});
  addNode(graph, "Sqrt", "without operand", {}, {"e"}); // It is refused later.
  Classified result(proto);
  EXPECT_EQ(result.role("shift of one"), constant);
  for (const char *name :
       {"mean", "variance", "mean2", "variance2", "bn/moving_mean:0", "shifted by one"}) {
    EXPECT_EQ(result.role(name), constant) << name;
    EXPECT_EQ(result.classes[name].reason, "moving statistics of a decomposed batch normalization");
  }
  for (const char *name :
       {"gamma", "beta", "gamma2", "beta2", "weight", "offset", "shifted far", "cubed"})
    EXPECT_EQ(result.role(name), parameter) << name;
  Classified named(proto, {{"mean"}, {}});
  EXPECT_EQ(named.role("mean"), parameter) << "whoever names it means it";
}

TEST(Parameters, WarnsOfFoldedNormalizations) {
  ModelProto proto = reluModel();
  for (const char *name : {"model/bn/batchnorm/mul:0", "model/bn/batchnorm/sub:0", "dense/kernel"})
    addInitializer(proto, name, {2});
  Classified result(proto);
  EXPECT_THAT(normalizationWarnings(result.graph(), result.classes),
              ElementsAre(HasSubstr("initializers 'model/bn/batchnorm/mul:0', "
                                    "'model/bn/batchnorm/sub:0': batch "
                                    "normalizations")));
}

TEST(Parameters, WarnsOfNormalizationsThatOptimizersFolded) {
  struct {
    const char *weight, *bias, *tool, *remedy;
  } folds[] = {
      {"ConvBnFusion_W_conv.weight", "ConvBnFusion_BN_B_bn.bias", "onnxruntime's optimizer",
       "compile the file before the optimization with --batch-norm train"},
      {"conv2d/Conv2D_weights_fused_bn", "conv2d/Conv2D_bias_fused_bn", "tf2onnx", "mtc.export"},
      {"/bn/BatchNormalization_output_0_weight", "/bn/BatchNormalization_output_0_bias", "onnxslim",
       "compile the file before"},
      {"_v_17", "_v_18", "onnxsim or onnxoptimizer", "compile the file before"},
  };
  for (const auto &fold : folds) {
    ModelProto proto = reluModel();
    addInitializer(proto, fold.weight, {2, 2, 1});
    addInitializer(proto, fold.bias, {2}, 2);
    addNode(*proto.mutable_graph(), "Conv", "conv", {"x", fold.weight, fold.bias}, {"c"});
    Classified result(proto);
    EXPECT_THAT(normalizationWarnings(result.graph(), result.classes),
                ElementsAre(AllOf(HasSubstr(std::string("folded by ") + fold.tool + " into '" +
                                            fold.weight + "';"),
                                  HasSubstr(fold.remedy))));
    Classified frozen(proto, {{}, {fold.weight}});
    EXPECT_THAT(normalizationWarnings(frozen.graph(), frozen.classes), IsEmpty());
  }
  // The bias belongs to the module, so this is not a normalization, but a weight that the optimizer
  // folded.
  ModelProto proto = reluModel();
  addInitializer(proto, "_v_17", {2, 2, 1});
  addInitializer(proto, "conv.bias", {2}, 2);
  addNode(*proto.mutable_graph(), "Conv", "conv", {"x", "_v_17", "conv.bias"}, {"c"});
  Classified result(proto);
  EXPECT_THAT(normalizationWarnings(result.graph(), result.classes), IsEmpty());
}

TEST(Parameters, WarnsOfScalesThatAVarianceWasFoldedInto) {
  ModelProto proto = reluModel();
  float value = 1; // Equal ones might be one weight.
  for (const char *name : {"onnx::Sub_3", "onnx::Mul_5", "onnx::Add_4", "mean", "gain", "shift"})
    addInitializer(proto, name, {3}, value++);
  GraphProto &graph = *proto.mutable_graph();
  addNode(graph, "Sub", "/Sub", {"x", "onnx::Sub_3"}, {"s"});
  addNode(graph, "Mul", "/Mul", {"s", "onnx::Mul_5"}, {"m"});
  addNode(graph, "Add", "/Add", {"m", "onnx::Add_4"}, {"a"});
  addNode(graph, "Sub", "/Sub_1", {"a", "mean"}, {"s1"});
  addNode(graph, "Mul", "/Mul_1", {"s1", "gain"}, {"m1"});
  addNode(graph, "Add", "/Add_1", {"m1", "shift"}, {"a1"});
  Classified result(proto);
  EXPECT_EQ(result.role("onnx::Sub_3"), constant);
  EXPECT_EQ(result.role("mean"), parameter);
  EXPECT_THAT(normalizationWarnings(result.graph(), result.classes),
              ElementsAre(HasSubstr("initializers 'onnx::Mul_5': batch")));
}

TEST(Parameters, WarnsOfBuffersThatTheOlderExporterWritesLikeParameters) {
  ModelProto proto = reluModel();
  proto.set_producer_name("pytorch");
  GraphProto &graph = *proto.mutable_graph();
  addInitializer(proto, "onnx::MatMul_5", {3, 4}, 1);
  for (const char *node : {"/lm_head/MatMul", "/model/head/MatMul", "/positions/proj/MatMul"})
    addNode(graph, "MatMul", node, {"x", "onnx::MatMul_5"}, {node});
  const auto add = [&](const char *node, const char *linear, const char *other) {
    addNode(graph, "Add", node, {linear, other}, {node});
  };
  // Modules add these biases to the output of an inner layer, in either operand order and with
  // another type.
  addInitializer(proto, "onnx::Add_6", {1, 4}, 0);
  add("/Add", "/lm_head/MatMul", "onnx::Add_6");
  addInitializer(proto, "model.prior", {4}, 1);
  addNode(graph, "Cast", "/model/Cast", {"model.prior"}, {"cast"});
  add("/model/Add", "cast", "/model/head/MatMul");
  // Biases of layers are recognized by name and rank, and by their use inside the layer.
  addInitializer(proto, "model.bias", {4}, 2);
  add("/model/Add_1", "/model/head/MatMul", "model.bias");
  addInitializer(proto, "onnx::Add_7", {1, 4}, 3);
  add("/lm_head/Add", "/lm_head/MatMul", "onnx::Add_7");
  // The operands belong to a module without layers, to a table of positions, and to no linear
  // layer.
  addInitializer(proto, "onnx::Add_8", {1, 4}, 4);
  add("/shift/Add", "/lm_head/MatMul", "onnx::Add_8");
  addInitializer(proto, "positions.table", {1, 2, 4}, 5);
  add("/positions/Add", "/positions/proj/MatMul", "positions.table");
  addInitializer(proto, "onnx::Add_9", {1, 3}, 6);
  add("/Add_2", "x", "onnx::Add_9");
  Classified result(proto);
  EXPECT_THAT(
      possibleBufferWarnings(result.graph(), result.classes),
      ElementsAre(HasSubstr("their linear layers: 'onnx::Add_6' [1, 4], 'model.prior' [4]; "
                            "trained, because the file does not specify whether they are "
                            "parameters. For buffers, use --freeze 'onnx::Add_6' --freeze "
                            "'model.prior'; for parameters, use --train '*'; or export with "
                            "mtc.export(module, ...)")));
  Classified kept(proto, {{}, {"onnx::Add_6"}});
  EXPECT_THAT(possibleBufferWarnings(kept.graph(), kept.classes),
              ElementsAre(HasSubstr("linear layers: 'model.prior' [4]; ")));
  Classified trained(proto, {{"*"}, {}});
  EXPECT_EQ(trained.role("onnx::Add_6"), parameter);
  EXPECT_THAT(possibleBufferWarnings(trained.graph(), trained.classes), IsEmpty());
  proto.set_producer_name("tf2onnx");
  Classified other(proto);
  EXPECT_THAT(possibleBufferWarnings(other.graph(), other.classes), IsEmpty());
}

TEST(Parameters, KnowsTheBiasOfANormalizationInAConvolution) {
  ModelProto proto = dynamoModel({"conv.weight"});
  addInitializer(proto, "conv.weight", {2, 1, 1, 1}, 0, "PARAMETER");
  addInitializer(proto, "conv.weight_bias", {2});
  EXPECT_EQ(Classified(proto).role("conv.weight_bias"), parameter);
}
