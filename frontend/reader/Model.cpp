//===- Model.cpp - An ONNX file
//-----------------------------------------------------------------===//

#include "frontend/reader/Model.h"
#include "frontend/reader/TensorData.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

using namespace mtc::onnx;
using llvm::StringRef;

Model::~Model() = default;

/// Parses a file of at most 2 GiB, protobuf's limit for a message; deeper nesting than protobuf's
/// own limit of 100 messages is refused by it.
static bool parse(int file, ::onnx::ModelProto &proto) {
  google::protobuf::io::FileInputStream stream(file);
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  return proto.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

std::unique_ptr<Model> Model::read(StringRef path, Problems &problems) {
  auto fail = [&](const llvm::Twine &what) {
    problems.add(path + ": " + what);
    return nullptr;
  };
  int file = open(path.str().c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return fail(llvm::Twine("cannot be opened: ") + strerror(errno));
  llvm::scope_exit closer([&] { close(file); });
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
    return fail("is no regular file, expected an ONNX model");
  if (status.st_size > std::numeric_limits<int>::max())
    return fail(
        llvm::formatv("has {0} bytes; a model beyond 2 GiB must keep its tensors as external "
                      "data (onnx.save with save_as_external_data)",
                      status.st_size)
            .str());

  std::unique_ptr<Model> model(new Model);
  model->modelProto = std::make_unique<::onnx::ModelProto>();
  // Protobuf's own messages would name its fields, not the user's file.
  google::protobuf::LogSilencer silence;
  if (!parse(file, *model->modelProto))
    return fail("is no ONNX model, or it is cut off: it cannot be parsed");

  llvm::SmallString<256> real;
  if (llvm::sys::fs::real_path(path, real))
    real = path;
  model->modelPath = path.str();
  model->modelName = llvm::sys::path::stem(path).str();
  StringRef folder = llvm::sys::path::parent_path(real);
  model->files = std::make_unique<ExternalFiles>(folder.empty() ? "." : folder.str());

  Problems found;
  model->check(found);
  for (const std::string &message : found.get())
    problems.add(path + ": " + message);
  return found.empty() ? std::move(model) : nullptr;
}

void Model::check(Problems &problems) {
  const ::onnx::ModelProto &proto = *modelProto;
  if (!proto.has_graph() || proto.graph().node_size() + proto.graph().output_size() == 0)
    return problems.add("holds no graph: it is no ONNX model, or an empty one");
  if (proto.ir_version() < 3 || proto.ir_version() > newestIrVersion)
    problems.add("has the IR version " + llvm::Twine(proto.ir_version()) + ", expected 3 to " +
                 llvm::Twine(newestIrVersion));
  for (const auto &import : proto.opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx")
      opsetVersion = import.version();
  if (opsetVersion == 0)
    problems.add("imports no opset of ai.onnx");
  else if (opsetVersion < oldestOpset || opsetVersion > newestOpset)
    problems.add(
        llvm::formatv("imports opset {0}, expected {1} to {2}: export it again, or convert it "
                      "with onnx.version_converter",
                      opsetVersion, oldestOpset, newestOpset)
            .str());
  if (proto.graph().sparse_initializer_size())
    problems.add("holds sparse initializers, which are not supported");
  for (const ::onnx::TensorProto &tensor : proto.graph().initializer()) {
    if (tensor.name().empty())
      problems.add("holds an initializer without a name");
    else if (!initializers.try_emplace(tensor.name(), &tensor).second)
      problems.add("holds two initializers named '" + tensor.name() + "'");
  }
}

llvm::Expected<mlir::RankedTensorType> Model::initializerType(mlir::MLIRContext *context,
                                                              StringRef name) const {
  return tensorType(context, *initializers.lookup(name));
}

llvm::Expected<llvm::ArrayRef<char>> Model::initializerBytes(mlir::MLIRContext *context,
                                                             StringRef name) {
  auto type = initializerType(context, name);
  if (!type)
    return type.takeError();
  return tensorBytes(*initializers.lookup(name), *type);
}

bool Model::isExternal(StringRef name) const {
  return initializers.lookup(name)->data_location() == ::onnx::TensorProto::EXTERNAL;
}

llvm::Expected<llvm::ArrayRef<char>> Model::tensorBytes(const ::onnx::TensorProto &tensor,
                                                        mlir::RankedTensorType type) {
  return mtc::onnx::tensorBytes(tensor, type, *files, converted[&tensor]);
}
