//===- IterationEmitter.h - Code of a kernel's body for one iteration or a vector of them -----===//
//
// Target-independent code generation for kernel bodies. Targets implement vector loads and stores.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_KERNELS_ITERATIONEMITTER_H
#define MTC_CODEGEN_KERNELS_ITERATIONEMITTER_H

#include "codegen/kernels/KernelAnalysis.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc {

/// Emits values of a kernel's body on demand. Dimensions are bound to scalar indices, and at most
/// one of them to lanes. Values that depend on the lanes' dimension are vectors, all others are
/// scalars. Emitted values are cached until the enclosing `Scope` ends, so a value that was emitted
/// before a loop is reused inside the loop.
class IterationEmitter {
public:
  /// `operands` are pointers to the inputs, then to the outputs. Indices and offsets have type
  /// `indexType`.
  IterationEmitter(mlir::ImplicitLocOpBuilder &b, const NormalKernel &kernel,
                   mlir::ValueRange operands, mlir::Value fault, mlir::Type indexType)
      : b(b), kernel(kernel), operands(operands.begin(), operands.end()), fault(fault),
        indexType(indexType) {
    state.dims.resize(kernel.rank());
  }
  virtual ~IterationEmitter() = default;

  /// The current bindings and the emitted values.
  struct State {
    llvm::DenseMap<mlir::Value, mlir::Value> values;
    llvm::SmallVector<mlir::Value> dims;
    DimSet bound = 0;
    std::optional<unsigned> lanesDim;
    int64_t lanes = 1;
    int64_t activeLanes = 1;
    mlir::Value mask;   ///< vector of i1; null if all lanes are active
    mlir::Value exists; ///< i1; null if the iteration is always in the space
    std::optional<unsigned> loopDim;
  };

  /// Restores the bindings and emitted values when it goes out of scope.
  class Scope {
  public:
    explicit Scope(IterationEmitter &emitter) : emitter(emitter), saved(emitter.state) {}
    ~Scope() { emitter.state = std::move(saved); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    IterationEmitter &emitter;
    State saved;
  };

  const State &getState() const { return state; }
  /// Restores a saved state. The values emitted in that state must dominate the insertion point.
  void setState(const State &to) { state = to; }

  void bindDim(unsigned dim, mlir::Value index);
  /// Binds a dimension to lanes at start, start + 1, ...; only the first `active` lanes are valid.
  void bindLanes(unsigned dim, mlir::Value start, int64_t lanes, int64_t active);
  /// Sets a predicate (i1, or null for true) that is false in threads outside the iteration space.
  /// If it is false, the iteration performs no loads, raises no faults, and has arbitrary values.
  void bindExists(mlir::Value exists) { state.exists = exists; }
  /// Defines a value of the body (a reduction's result) that was computed elsewhere.
  void define(mlir::Value bodyValue, mlir::Value value) { state.values[bodyValue] = value; }
  /// Marks the beginning of a loop over `dim`, which must be the innermost loop apart from the
  /// lanes.
  void enterLoop(unsigned dim) { state.loopDim = dim; }

  /// Returns a value of the body: a vector if it depends on the lanes' dimension, otherwise a
  /// scalar.
  mlir::Value get(mlir::Value bodyValue);
  /// Returns a value of the body as a vector.
  mlir::Value getLanes(mlir::Value bodyValue) { return broadcast(get(bodyValue)); }
  /// Emits the operands of `targets` that depend only on the bound dimensions and on reductions up
  /// to `level`.
  void hoist(mlir::ValueRange targets, unsigned level);

  /// Makes `store` add the values of a column sum to the elements at `address`, of the value's
  /// type.
  void addUpAt(unsigned result, mlir::Value address) { partials[result] = address; }

  /// Stores the accumulator of a column sum at the offset of its result relative to `base`.
  void storeSum(unsigned result, mlir::Value base, mlir::Value sum);

  /// Stores or adds the results. All values are computed before the first store.
  void store(llvm::ArrayRef<unsigned> results);

  mlir::Value index(int64_t value);
  bool hasLanes() const { return state.lanesDim.has_value(); }
  mlir::Value broadcast(mlir::Value value);
  /// Selects `value` in active lanes and `otherwise` in all others.
  mlir::Value selectActive(mlir::Value value, mlir::Value otherwise);

protected:
  /// An offset, split into a part that is uniform over the lanes and a part that varies.
  struct LaneOffset {
    mlir::Value uniform;
    int64_t laneStride = 0;  ///< between adjacent lanes
    mlir::Value laneOffsets; ///< a vector that is added to the other parts; null if there is none
    bool isUniform() const { return laneStride == 0 && !laneOffsets; }
    bool isContiguous() const { return laneStride == 1 && !laneOffsets; }
  };

  /// Loads the lanes from `base` where `active` (i1, a vector of i1, or null for true) is set.
  /// Other lanes have unspecified values.
  virtual mlir::Value readLanes(const LaneOffset &offset, mlir::Value base, mlir::Type element,
                                mlir::Value active) = 0;
  virtual void writeLanes(const LaneOffset &offset, mlir::Value base, mlir::Type element,
                          mlir::Value stored) = 0;
  /// This hook is called before a vector load is emitted.
  virtual void beforeLoad(const LinearForm &form, const LaneOffset &offset, unsigned operand,
                          mlir::Type element) {}
  /// Emits a vector load at computed indices in a target-specific way; returns null to use the
  /// default.
  virtual mlir::Value emitLookup(KernelLoadOp op, const LinearForm &form) { return {}; }
  /// Emits an operation in a target-specific way; returns null to use the default.
  virtual mlir::Value emitSpecial(mlir::Operation *op) { return {}; }

  LaneOffset offsetOf(const LinearForm &form, mlir::ValueRange symbols);
  mlir::Value offsets(const LaneOffset &offset);
  mlir::Value pointer(mlir::Value base, mlir::Type element, mlir::Value offset);
  bool isVector(mlir::Value value) const { return mlir::isa<mlir::VectorType>(value.getType()); }
  mlir::Value lanesMask(int64_t active);
  /// Returns the value that `read` emits if `active` (i1, or null for true) is set, otherwise 0.
  mlir::Value readWhere(mlir::Value active, mlir::Type type,
                        llvm::function_ref<mlir::Value()> read);
  mlir::Type inLanes(mlir::Type type) const { return mlir::VectorType::get({state.lanes}, type); }

  mlir::ImplicitLocOpBuilder &b;
  const NormalKernel &kernel;
  llvm::SmallVector<mlir::Value> operands;
  mlir::Value fault;
  mlir::Type indexType;
  llvm::SmallDenseMap<unsigned, mlir::Value> partials; ///< of column sums, by result
  State state;

private:
  void emit(mlir::Operation *op);
  void emitScalarOperation(mlir::Operation *op);
  mlir::Value emitLoad(KernelLoadOp op);
  mlir::Value emitUniformLoad(KernelLoadOp op, mlir::Value pointer, mlir::Value guard);
  mlir::Value emitAddRows(KernelAddRowsOp op);
  mlir::Value readUniform(mlir::Value address, mlir::Type element, mlir::Value guard);
  mlir::Value emitIndex(KernelIndexOp op);
  mlir::Value emitCheck(KernelCheckOp op);
  void raiseFault(mlir::Value bad, mlir::Value index, int64_t extent);
  void storeOne(unsigned result, const LaneOffset &offset, mlir::Value value);
  mlir::Value expand(mlir::AffineExpr expr, llvm::ArrayRef<mlir::Value> symbols, bool inLanes);
  mlir::Value lanesIndex(unsigned dim);
  mlir::Value both(mlir::Value x, mlir::Value y);
  mlir::Value indexLike(int64_t value, mlir::Type like);
  mlir::Value toIndex(mlir::Value integer);
};

} // namespace mtc

#endif // MTC_CODEGEN_KERNELS_ITERATIONEMITTER_H
