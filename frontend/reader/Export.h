//===- Export.h - The model with other weights ------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_EXPORT_H
#define MTC_FRONTEND_READER_EXPORT_H

#include "frontend/dialect/Onnx.h"
#include "frontend/reader/Model.h"

#include "llvm/ADT/StringSet.h"

#include <vector>

namespace mtc::onnx {

/// An initializer that the file does not have: nodes read it in place of what they did.
struct AddedInitializer {
  std::string name;
  std::string source; // What it starts as: an initializer, or a Constant node's result.
  /// A node by its way from the main graph (positions of a node, of its attribute, of a node in
  /// that subgraph, …), and one of its operands.
  struct Reader {
    std::vector<int64_t> node;
    unsigned operand;
  };
  std::vector<Reader> readers;
  std::optional<int64_t> replaced; // The node whose result it is.
};

/// Those of a graph whose parameters are chosen.
std::vector<AddedInitializer> findAddedInitializers(GraphOp graph);

/// Which of the exported files has a segment: every one, or only that in inference form or in the
/// form that was read.
enum class ExportForm { Every, Inference, Original };

/// A segment of a file: bytes, then the data of an initializer (none if its name is empty), of a
/// TensorProto.DataType.
struct FileSegment {
  std::string bytes, initializer;
  int64_t dataType = 0;
  ExportForm form = ExportForm::Every;
};

/// The model's file with these initializers, cut at the data of those that are given by name: the
/// segments' bytes, with data of the same sizes between them, are the model with that data as raw
/// data. Where inference form (`toInferenceForm`) differs, each form has segments of its own first,
/// and the files of both share all that follow. External data is included. Fails, with the reason,
/// where that is missing, or where the file would exceed protobuf's 2 GiB.
llvm::Expected<std::vector<FileSegment>> exportSegments(Model &model,
                                                        llvm::ArrayRef<AddedInitializer> added,
                                                        const llvm::StringSet<> &initializers);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_EXPORT_H
