//===- ModelTest.cpp - Files that are not models, and invalid tensors -------------------------===//

#include "test/frontend/onnx/TestModel.h"

#include "frontend/onnx/dialect/Tensor.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Model, ReadsASoundModel) {
  Imported result(reluModel());
  EXPECT_EQ(result.messages(), "");
  EXPECT_EQ(result.model->opset(), 18);
  EXPECT_EQ(result.model->name(), "model");
}

TEST(Model, NamesAFileThatIsNotThere) {
  Imported result(std::string("/nowhere/absent.onnx"));
  EXPECT_THAT(result.messages(), HasSubstr("/nowhere/absent.onnx: cannot be opened: No such file"));
}

TEST(Model, RefusesFolders) {
  Folder folder;
  EXPECT_THAT(Imported(folder / "").messages(), HasSubstr("not a regular file"));
}

TEST(Model, RefusesEmptyFilesAndOtherFormats) {
  Folder folder;
  EXPECT_THAT(Imported(folder.write("a.onnx", "")).messages(), HasSubstr("is empty"));
  EXPECT_THAT(Imported(folder.write("b.onnx", "PK\x03\x04 and more")).messages(),
              HasSubstr("is a zip archive"));
  EXPECT_THAT(
      Imported(folder.write("c.onnx", "version https://git-lfs.github.com/spec/v1\n")).messages(),
      HasSubstr("git lfs pull"));
  EXPECT_THAT(Imported(folder.write("d.onnx", "this is no model")).messages(),
              HasSubstr("is not a valid ONNX file"));
}

TEST(Model, RefusesEveryTruncationWithoutCrashing) {
  ModelProto proto = reluModel();
  *proto.mutable_graph()->add_initializer() = floats("w", {2}, {1, 2});
  std::string bytes = proto.SerializeAsString();
  Folder folder;
  size_t refused = 0;
  for (size_t size = 0; size < bytes.size(); ++size)
    refused += Imported(folder.write("cut.onnx", bytes.substr(0, size))).failed();
  EXPECT_EQ(refused, bytes.size());
}

TEST(Model, SurvivesEveryFlippedByte) {
  ModelProto proto = reluModel();
  *proto.mutable_graph()->add_initializer() = floats("w", {2}, {1, 2});
  std::string bytes = proto.SerializeAsString();
  Folder folder;
  for (size_t at = 0; at < bytes.size(); ++at)
    for (char mask : {'\x01', '\x08', '\x80', '\xff'}) {
      std::string broken = bytes;
      broken[at] ^= mask;
      Imported result(folder.write("flipped.onnx", broken));
    }
}

TEST(Model, RefusesVersionsThatItDoesNotKnow) {
  ModelProto proto = reluModel();
  proto.set_ir_version(99);
  proto.mutable_opset_import(0)->set_version(6);
  std::string messages = Imported(proto).messages();
  EXPECT_THAT(messages, HasSubstr("has IR version 99, expected 3 to 13"));
  EXPECT_THAT(messages, HasSubstr("uses opset 6 of ai.onnx, expected 7 to 27"));
  proto = reluModel();
  proto.clear_opset_import();
  EXPECT_THAT(Imported(proto).messages(), HasSubstr("has no opset_import for ai.onnx"));
}

TEST(Model, RefusesTwoVersionsOfADomain) {
  ModelProto proto = reluModel();
  auto *again = proto.add_opset_import();
  again->set_domain("ai.onnx");
  again->set_version(17);
  EXPECT_THAT(Imported(proto).messages(), HasSubstr("as opset 18 and as opset 17"));
  again->set_version(18);
  EXPECT_EQ(Imported(proto).messages(), "");
}

TEST(Model, RefusesNestingWithoutEnd) {
  ModelProto proto = reluModel();
  GraphProto *graph = proto.mutable_graph();
  for (int depth = 0; depth < 60; ++depth) {
    auto *attribute = addNode(*graph, "If", "if", {}, {}).add_attribute();
    attribute->set_name("then_branch");
    graph = attribute->mutable_g();
  }
  EXPECT_THAT(Imported(proto).messages(), HasSubstr("nested more than 100 levels deep"));
}

/// Returns the error for a model with this initializer.
static std::string messagesAbout(const TensorProto &tensor) {
  ModelProto proto = reluModel();
  *proto.mutable_graph()->add_initializer() = tensor;
  return Imported(proto).messages();
}

TEST(Tensors, RefusesDataOfTheWrongSize) {
  EXPECT_THAT(messagesAbout(floats("w", {2, 3}, {1, 2, 3, 4, 5})),
              HasSubstr("initializer 'w': raw_data has 20 bytes, expected 24 for FLOAT [2, 3]"));
  TensorProto typed = tensor("t", {3});
  typed.add_float_data(1);
  EXPECT_THAT(messagesAbout(typed),
              HasSubstr("initializer 't': float_data has 1 elements, expected 3"));
  EXPECT_THAT(messagesAbout(tensor("none", {3})),
              HasSubstr("initializer 'none': float_data has 0 elements, expected 3"));
}

TEST(Tensors, RefusesElementsInTwoFields) {
  TensorProto twice = floats("w", {1}, {1});
  twice.add_float_data(1);
  EXPECT_THAT(messagesAbout(twice), HasSubstr("has elements in 2 fields, expected one"));
}

TEST(Tensors, RefusesDimensionsThatOverflow) {
  for (int64_t huge : {INT64_MAX, int64_t(1) << 62, int64_t(1) << 47}) {
    EXPECT_THAT(messagesAbout(tensor("w", {huge})), HasSubstr("is larger than 2^48 bytes"));
    EXPECT_THAT(messagesAbout(tensor("w", {0, huge, 4})), HasSubstr("is larger than 2^48 bytes"));
  }
  EXPECT_THAT(messagesAbout(tensor("w", {int64_t(1) << 32, int64_t(1) << 32})),
              HasSubstr("is larger than 2^48 bytes"));
  EXPECT_THAT(messagesAbout(tensor("w", {2, -1})), HasSubstr("has a negative dimension"));
  EXPECT_THAT(messagesAbout(tensor("w", {INT64_MIN})), HasSubstr("has a negative dimension"));
}

TEST(Tensors, RefusesTypesThatAreNotNumbers) {
  EXPECT_THAT(messagesAbout(tensor("c", {0}, TensorProto::COMPLEX64)),
              HasSubstr("element type COMPLEX64 is not supported"));
  EXPECT_THAT(messagesAbout(tensor("u", {0}, 12345)), HasSubstr("element type 12345"));
}

TEST(Tensors, RefusesNamesGivenTwiceAndNotAtAll) {
  ModelProto proto = reluModel();
  *proto.mutable_graph()->add_initializer() = floats("w", {1}, {1});
  *proto.mutable_graph()->add_initializer() = floats("w", {1}, {2});
  *proto.mutable_graph()->add_initializer() = floats("", {1}, {2});
  std::string messages = Imported(proto).messages();
  EXPECT_THAT(messages, HasSubstr("initializer 'w' is defined twice"));
  EXPECT_THAT(messages, HasSubstr("an initializer has no name"));
}

TEST(Tensors, ReportsAllProblemsAtOnce) {
  ModelProto proto = reluModel();
  proto.set_ir_version(1);
  for (int i = 0; i < 200; ++i)
    *proto.mutable_graph()->add_initializer() = tensor("w" + std::to_string(i), {-1});
  Imported result(proto);
  EXPECT_THAT(result.messages(), HasSubstr("IR version 1"));
  EXPECT_THAT(result.messages(), HasSubstr("initializer 'w90'"));
  EXPECT_THAT(result.messages(), HasSubstr("more problems"));
}

TEST(Tensors, EscapesNamesInMessages) {
  EXPECT_THAT(messagesAbout(tensor("a\nb\x1b[31m", {-1})),
              HasSubstr("initializer 'a\\x0ab\\x1b[31m'"));
  EXPECT_THAT(messagesAbout(tensor(std::string(5000, 'n'), {-1})), HasSubstr("nnn…'"));
}

TEST(Tensors, ReadsEveryField) {
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  auto add = [&](const char *name, int32_t type) -> TensorProto & {
    return *graph.add_initializer() = tensor(name, {2}, type);
  };
  auto int32s = [&](const char *name, int32_t type, int32_t a, int32_t b) {
    TensorProto &t = add(name, type);
    t.add_int32_data(a);
    t.add_int32_data(b);
  };
  int32s("f16", TensorProto::FLOAT16, 0x3c00, 0xc000);
  int32s("bf16", TensorProto::BFLOAT16, 0x3f80, 0xc000);
  int32s("f8", TensorProto::FLOAT8E4M3FN, 0x38, 0xc0);
  int32s("bool", TensorProto::BOOL, 0, 1);
  int32s("i8", TensorProto::INT8, -1, 2);
  int32s("i16", TensorProto::INT16, -1, 2);
  int32s("i32", TensorProto::INT32, -1, 2);
  TensorProto &u32 = add("u32", TensorProto::UINT32);
  u32.add_uint64_data(1);
  u32.add_uint64_data(4000000000u);
  TensorProto &f64 = add("f64", TensorProto::DOUBLE);
  f64.add_double_data(1);
  f64.add_double_data(-2);
  TensorProto &i64 = add("i64", TensorProto::INT64);
  i64.add_int64_data(INT64_MIN);
  i64.add_int64_data(7);

  Imported result(proto);
  ASSERT_EQ(result.messages(), "");
  auto bytes = [&](const char *name) {
    llvm::ArrayRef<char> view = llvm::cantFail(result.model->initializerBytes(name));
    return std::string(view.begin(), view.end());
  };
  EXPECT_EQ(bytes("f16"), bytesOf<uint16_t>({0x3c00, 0xc000}));
  EXPECT_EQ(bytes("bf16"), bytesOf<uint16_t>({0x3f80, 0xc000}));
  EXPECT_EQ(bytes("f8"), bytesOf<uint8_t>({0x38, 0xc0}));
  EXPECT_EQ(bytes("bool"), bytesOf<uint8_t>({0, 1}));
  EXPECT_EQ(bytes("i8"), bytesOf<int8_t>({-1, 2}));
  EXPECT_EQ(bytes("i16"), bytesOf<int16_t>({-1, 2}));
  EXPECT_EQ(bytes("i32"), bytesOf<int32_t>({-1, 2}));
  EXPECT_EQ(bytes("u32"), bytesOf<uint32_t>({1, 4000000000u}));
  EXPECT_EQ(bytes("f64"), bytesOf<double>({1, -2}));
  EXPECT_EQ(bytes("i64"), bytesOf<int64_t>({INT64_MIN, 7}));
  EXPECT_EQ(bytes("f16"), bytes("f16")) << "the same on every call";
}

TEST(Tensors, UnpacksIntegersOfTwoAndFourBits) {
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  auto add = [&](const char *name, int32_t type, std::initializer_list<uint8_t> bytes, bool isRaw) {
    TensorProto &t = *graph.add_initializer() = tensor(name, {3}, type);
    for (uint8_t byte : bytes)
      isRaw ? void(t.mutable_raw_data()->push_back(static_cast<char>(byte)))
            : t.add_int32_data(byte);
  };
  add("i4", TensorProto::INT4, {0x7f, 0x08}, true);
  add("u4", TensorProto::UINT4, {0x7f, 0x08}, false);
  add("i2", TensorProto::INT2, {0b100111}, false);
  add("u2", TensorProto::UINT2, {0b100111}, true);
  Imported result(proto);
  ASSERT_EQ(result.messages(), "");
  std::map<std::string, std::vector<int64_t>> found;
  result.module->walk([&](ConstantOp constant) {
    std::optional<Tensor> value = Tensor::fromAttribute(constant.getValue());
    ASSERT_TRUE(value);
    EXPECT_EQ(value->toAttribute(), constant.getValue());
    found[constant->getAttrOfType<mlir::StringAttr>(initializerAttribute).str()] =
        value->values<int64_t>();
  });
  EXPECT_THAT(found["i4"], ElementsAre(-1, 7, -8));
  EXPECT_THAT(found["u4"], ElementsAre(15, 7, 8));
  EXPECT_THAT(found["i2"], ElementsAre(-1, 1, -2));
  EXPECT_THAT(found["u2"], ElementsAre(3, 1, 2));
  TensorProto odd = tensor("odd", {3}, TensorProto::INT4);
  odd.set_raw_data("abc");
  EXPECT_THAT(messagesAbout(odd), HasSubstr("raw_data has 3 bytes, expected 2 for INT4 [3]"));
  TensorProto fields = tensor("fields", {5}, TensorProto::INT4);
  fields.add_int32_data(1);
  EXPECT_THAT(messagesAbout(fields), HasSubstr("int32_data has 1 elements, expected 3"));
}
