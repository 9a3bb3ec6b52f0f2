//===- Settings.h - Numbers that flags of a program set ---------------------------------------===//

#ifndef MTC_IR_BUILDERS_SETTINGS_H
#define MTC_IR_BUILDERS_SETTINGS_H

#include "ir/builders/TensorBuilder.h"

namespace mtc {

/// A number of the program that its flag can set. Valid are minimum <= number < limit.
struct SettingKind {
  llvm::StringLiteral name;
  /// Flag of mtc compile and of the program, without dashes. Numbers with one flag are given
  /// together.
  llvm::StringLiteral flag;
  llvm::StringLiteral help;
  double minimum, limit;
};

inline constexpr SettingKind dropoutSetting = {"dropout", "dropout", "rate of every dropout", 0.0,
                                               1.0};
/// The limit includes 1.
inline constexpr SettingKind labelSmoothingSetting = {
    "label-smoothing", "label-smoothing", "label smoothing of cross-entropy", 0.0, 1.0 + 0x1p-52};

/// A number to compute with: a constant, or a scalar that a flag of the program sets.
struct Number {
  double constant = 0;
  mlir::Value setting = {}; ///< f64; null for a constant

  Number(double constant) : constant(constant) {}
  explicit Number(mlir::Value setting) : setting(setting) {}
};

/// Returns whether the program of the module has settings.
bool hasSettings(mlir::ModuleOp module);

/// Returns the initial value of a setting's variable, with its value as compiled.
SettingAttr initialValueOf(mlir::Builder &b, const SettingKind &kind, double value);

/// Returns a number that a flag sets if the program has settings, and otherwise a constant. `scope`
/// makes the name of the setting's variable unique.
Number readNumber(TensorBuilder &b, const SettingKind &kind, llvm::StringRef scope, double value);

/// Returns factor * number and 1 - number.
Number scale(TensorBuilder &b, const Number &number, double factor);
Number complement(TensorBuilder &b, const Number &number);

/// Broadcasts to the shape and element type of `like`.
mlir::Value broadcastLike(TensorBuilder &b, mlir::Value scalar, mlir::Value like);
mlir::Value broadcastLike(TensorBuilder &b, const Number &number, mlir::Value like);

} // namespace mtc

#endif // MTC_IR_BUILDERS_SETTINGS_H
