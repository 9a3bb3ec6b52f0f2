//===- Export.h - The model with other weights ------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_EXPORT_H
#define MTC_FRONTEND_READER_EXPORT_H

#include "frontend/reader/Model.h"

#include "llvm/ADT/StringSet.h"

#include <vector>

namespace mtc::onnx {

/// A piece of a file: bytes, then the data of an initializer (none if its name is empty).
struct FileSegment {
  std::string bytes, initializer;
};

/// The model's file cut at the data of the given initializers: the segments' bytes, with data of
/// the same sizes between them, are the model with that data as raw data. What is external
/// otherwise is taken into the file. Fails, saying why, where that is missing, or where the file
/// would pass protobuf's 2 GiB.
llvm::Expected<std::vector<FileSegment>> exportSegments(Model &model, mlir::MLIRContext &context,
                                                        const llvm::StringSet<> &initializers);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_EXPORT_H
