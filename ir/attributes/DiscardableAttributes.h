//===- DiscardableAttributes.h - Discardable attributes of the dialect ------------------------===//
//
// The complete list: the dialect's verifier rejects other `mtc.` attributes, and these attributes
// on other kinds of operations.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_ATTRIBUTES_DISCARDABLEATTRIBUTES_H
#define MTC_IR_ATTRIBUTES_DISCARDABLEATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mtc {

/// On a module: the target of the program, a TargetAttrInterface.
inline constexpr llvm::StringLiteral targetAttribute = "mtc.target";
/// On a module: the techniques by which mtc-fit met the budget; an array of strings.
inline constexpr llvm::StringLiteral techniquesAttribute = "mtc.techniques";
/// On a module for which mtc-fit failed, because an update takes longer than of interest: the peak
/// in bytes and the seconds of an update; an array.
inline constexpr llvm::StringLiteral tooSlowAttribute = "mtc.too_slow";
/// On a module: the program will have several shapes (`mtc.program`), of which this is one; a unit.
inline constexpr llvm::StringLiteral hasShapesAttribute = "mtc.has_shapes";
/// On a module: the settings that programs can have, each with its flag; a dictionary of strings.
/// Passes then compute with settings instead of constants (`#mtc.setting`).
inline constexpr llvm::StringLiteral settingsAttribute = "mtc.settings";
/// On the module of a pipeline stage: the stages of the gradients of the whole program, in the
/// order in which their norms are added; an array of integers.
inline constexpr llvm::StringLiteral gradientStagesAttribute = "mtc.gradient_stages";
/// On the module of a program with pipeline stages: the names of the variables before the cut, in
/// order; an array of strings.
inline constexpr llvm::StringLiteral variablesAttribute = "mtc.variables";
/// On arguments and results of functions: the name of a graph input or output, or of a reserved
/// result (ReservedNames.h); a string.
inline constexpr llvm::StringLiteral nameAttribute = "mtc.name";
/// On a function: a report on the lowering of its attention operations, an AttentionReportAttr.
inline constexpr llvm::StringLiteral attentionAttribute = "mtc.attention";
/// On a function: it is executed in a separate run with its own arena, so that its memory does not
/// count towards that of other functions; a unit.
inline constexpr llvm::StringLiteral separateArenaAttribute = "mtc.separate_arena";
/// On a function that computes an iteration of `mtc.scan` and is not a function of the program: the
/// numbers of states and of scanned inputs (ScanBody.h).
inline constexpr llvm::StringLiteral bodyAttribute = "mtc.body";
/// On a function's result: autodiff has differentiated it; a unit.
inline constexpr llvm::StringLiteral differentiatedAttribute = "mtc.differentiated";
/// On operations and kernels that recompute values of the forward pass and must not be merged with
/// the original operations; a unit.
inline constexpr llvm::StringLiteral recomputedAttribute = "mtc.recomputed";
/// On operations that compute a tile of a larger operation and do not constrain memory plans; a
/// unit.
inline constexpr llvm::StringLiteral inTilesAttribute = "mtc.in_tiles";
/// On a library call: the algorithm with which the target computes it, if it does not read the
/// operands as stored, and its speedup; a CallAlgorithmAttr.
inline constexpr llvm::StringLiteral algorithmAttribute = "mtc.algorithm";

/// On a variable: optimizer state that `mtc-quantize-optimizer-state` stores as codes with this
/// map; a QuantizationMapAttr.
inline constexpr llvm::StringLiteral quantizationAttribute = "mtc.quantization";
/// On a conversion to an integer in a kernel's body: its operand, which is between -1 and 256, only
/// needs to be this accurate; an f32.
inline constexpr llvm::StringLiteral toleranceAttribute = "mtc.tolerance";
/// On a parameter: the division of its axis whose parts the norm of gradients adds one after the
/// other, so that it does not depend on the number of ranks that have them; an AxisSplitAttr.
inline constexpr llvm::StringLiteral chunksAttribute = "mtc.chunks";
/// On a collective: the ranks add its operands. An operand that is a sum must not be added in an
/// order that depends on other operations of the rank; a unit.
inline constexpr llvm::StringLiteral addendsAttribute = "mtc.addends";
/// On a kernel: the order of a sum depends on the reduced dimensions of its iteration space, but
/// not on the other dimensions or the layouts of its operands; a unit.
inline constexpr llvm::StringLiteral fixedOrderAttribute = "mtc.fixed_order";
/// On an input: the ignored value pads sequences of labels, instead of excluding targets from the
/// loss; a unit.
inline constexpr llvm::StringLiteral paddedAttribute = "mtc.padded";

} // namespace mtc

#endif // MTC_IR_ATTRIBUTES_DISCARDABLEATTRIBUTES_H
