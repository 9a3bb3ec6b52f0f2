//===- PaddingRows.h - Rows of embeddings that stay zero -------------------------------------===//

#ifndef MTC_FRONTEND_READER_PADDINGROWS_H
#define MTC_FRONTEND_READER_PADDINGROWS_H

#include "frontend/reader/Model.h"

namespace mtc::onnx {

/// The only row of zeros of an initializer [rows, width] of floats: `nn.Embedding(padding_idx=row)`
/// starts with it and keeps it, and files of PyTorch's older exporter tell no other sign of it.
/// Nothing if there is none or several, or if the elements are not at hand.
std::optional<int64_t> findZeroRow(Model &model, llvm::StringRef table);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_PADDINGROWS_H
