//===- PaddingRows.h - Padding rows of embeddings ---------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_PADDINGROWS_H
#define MTC_FRONTEND_ONNX_READER_PADDINGROWS_H

#include "frontend/onnx/reader/Model.h"

namespace mtc::onnx {

/// Returns the only zero row of a float initializer [rows, width]. `nn.Embedding(padding_idx=row)`
/// initializes that row to zeros and never updates it; files of PyTorch's older exporter contain no
/// other hint. Returns nothing if there is no or more than one such row, or if the data is missing.
std::optional<int64_t> findZeroRow(Model &model, llvm::StringRef table);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_PADDINGROWS_H
