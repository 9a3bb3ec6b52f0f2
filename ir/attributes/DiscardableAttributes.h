//===- DiscardableAttributes.h - Attributes of the dialect on other operations ----------------===//
//
// All there are: the dialect refuses other `mtc.` attributes, and these where they do not belong.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_ATTRIBUTES_DISCARDABLEATTRIBUTES_H
#define MTC_IR_ATTRIBUTES_DISCARDABLEATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mtc {

/// Of a module: what its program is compiled for, a TargetAttrInterface.
inline constexpr llvm::StringLiteral targetAttribute = "mtc.target";
/// Of arguments and results of functions: the graph's input or output, or a result of the program's
/// own (ReservedNames.h), by its name; a string.
inline constexpr llvm::StringLiteral nameAttribute = "mtc.name";
/// Of a function: what became of its attentions, an AttentionReportAttr.
inline constexpr llvm::StringLiteral attentionAttribute = "mtc.attention";
/// Of a function: only a run of its own executes it, so that its memory is no part of the others';
/// a unit.
inline constexpr llvm::StringLiteral asideAttribute = "mtc.aside";
/// Of a function's result: autodiff has differentiated it; a unit.
inline constexpr llvm::StringLiteral differentiatedAttribute = "mtc.differentiated";
/// Of operations and kernels that compute again what the forward pass has computed, and must not be
/// merged with the forward pass's own; a unit.
inline constexpr llvm::StringLiteral recomputedAttribute = "mtc.recomputed";
/// Of operations that compute a tile of what was a larger one, and bound no plan; a unit.
inline constexpr llvm::StringLiteral inTilesAttribute = "mtc.in_tiles";

/// Of a variable: state that `mtc-quantize-optimizer-state` keeps in codes, by this map; a
/// QuantizationMapAttr.
inline constexpr llvm::StringLiteral quantizationAttribute = "mtc.quantization";

} // namespace mtc

#endif // MTC_IR_ATTRIBUTES_DISCARDABLEATTRIBUTES_H
