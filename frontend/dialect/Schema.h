//===- Schema.h - What the standard says of an operator's operands and attributes -------------===//
//
// A schema is one definition of an operator: how many operands and results it has, which may be
// left out, which element types they may have, and which attributes it takes. Schemas.inc holds
// those of ai.onnx; tools/scripts/onnx_schemas.py takes them from the standard's own package.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_DIALECT_SCHEMA_H
#define MTC_FRONTEND_DIALECT_SCHEMA_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace mtc::onnx {

class NodeView;

/// The operands or the results of an operator, from a text such as `data:T axes?:i64 rest...:T`:
/// `?` marks those that may be left out, `...` (last) one or more, `...?` any number; behind the
/// colon stands the type parameter.
class Signature {
public:
  struct Formal {
    llvm::StringRef name, typeParameter;
    bool isOptional, isVariadic;
  };

  explicit Signature(llvm::StringRef text);

  /// The least number that a node writes.
  size_t minimum() const { return required; }
  /// Nothing where any number may follow.
  std::optional<size_t> maximum() const;
  /// The formal operand that operand `i` of a node stands for; null past the end.
  const Formal *find(size_t i) const;

private:
  llvm::SmallVector<Formal, 4> formals;
  size_t required = 0;
};

/// An attribute's kind is the name of an `AttributeProto.AttributeType`, such as INTS.
struct AttributeSchema {
  llvm::StringRef name, kind;
  bool isRequired;
};

struct Schema {
  int64_t sinceVersion;
  bool isDeprecated;
  Signature operands, results;
  /// The element types that each type parameter stands for, as MLIR prints them. A parameter that
  /// is not here stands for any.
  llvm::StringMap<llvm::SmallVector<llvm::StringRef>> elementTypes;
  llvm::SmallVector<AttributeSchema> attributes; // Ordered by name.

  /// The definition of the greatest version not above `version`; null for an unknown operator.
  static const Schema *find(llvm::StringRef domain, llvm::StringRef name, int64_t version);
};

/// What a node has against its operator's schema, its first problem reported:
/// - attributes that the operator does not have, of another kind, or missing,
mlir::LogicalResult checkAttributes(NodeView &node, const Schema &schema);
/// - operands and results, more or fewer than there may be or left out,
mlir::LogicalResult checkArity(NodeView &node, const Schema &schema);
/// - element types; those of all operands are known.
mlir::LogicalResult checkElementTypes(NodeView &node, const Schema &schema);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_DIALECT_SCHEMA_H
