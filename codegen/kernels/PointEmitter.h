//===- PointEmitter.h - The values of a kernel's body at a point, or at a vector of points ----===//
//
// What is common to all targets; how vectors are read and written is the target's.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_KERNELS_POINTEMITTER_H
#define MTC_CODEGEN_KERNELS_POINTEMITTER_H

#include "codegen/kernels/KernelAnalysis.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc {

/// Emits values of a body where they are asked for. Dims are bound to scalars, one of them to
/// lanes; a value that depends on the lanes' dim is a vector, others are scalars. What was emitted
/// is remembered until the enclosing `Scope` ends, so a value asked for before a loop is reused
/// inside.
class PointEmitter {
public:
  /// `operands` point to the inputs, then to the outputs. Indices and offsets are computed in
  /// `indexType`.
  PointEmitter(mlir::ImplicitLocOpBuilder &b, const NormalKernel &kernel, mlir::ValueRange operands,
               mlir::Value fault, mlir::Type indexType)
      : b(b), kernel(kernel), operands(operands.begin(), operands.end()), fault(fault),
        indexType(indexType) {
    state.dims.resize(kernel.rank());
  }
  virtual ~PointEmitter() = default;

  /// What is bound, and what has been emitted.
  struct State {
    llvm::DenseMap<mlir::Value, mlir::Value> values;
    llvm::SmallVector<mlir::Value> dims;
    DimSet bound = 0;
    std::optional<unsigned> lanesDim;
    int64_t lanes = 1;
    int64_t activeLanes = 1;
    mlir::Value mask;   ///< vector of i1; null if all lanes exist
    mlir::Value exists; ///< i1; null if the point exists
    std::optional<unsigned> loopDim;
  };

  /// Bindings and values made while it lives are forgotten at its end.
  class Scope {
  public:
    explicit Scope(PointEmitter &emitter) : emitter(emitter), saved(emitter.state) {}
    ~Scope() { emitter.state = std::move(saved); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    PointEmitter &emitter;
    State saved;
  };

  const State &getState() const { return state; }
  /// Goes back to a point where the insertion point is still dominated by what was emitted there.
  void setState(const State &to) { state = to; }

  void bindDim(unsigned dim, mlir::Value index);
  /// Lanes at start, start + 1, ...; only the first `active` of them exist.
  void bindLanes(unsigned dim, mlir::Value start, int64_t lanes, int64_t active);
  /// The point reads nothing and raises no faults where this (i1, or null for true) does not hold:
  /// a thread beyond the space has it. Its values are arbitrary there.
  void bindExists(mlir::Value exists) { state.exists = exists; }
  /// Gives a value of the body (a reduction's result) as it was computed elsewhere.
  void define(mlir::Value bodyValue, mlir::Value value) { state.values[bodyValue] = value; }
  /// The body of a loop over the dim is being emitted; the dim is the innermost but for lanes.
  void enterLoop(unsigned dim) { state.loopDim = dim; }

  /// A value of the body: a scalar, or a vector if it depends on the lanes' dim.
  mlir::Value get(mlir::Value bodyValue);
  /// The same as a vector in any case.
  mlir::Value getLanes(mlir::Value bodyValue) { return broadcast(get(bodyValue)); }
  /// Emits what `targets` need and can be computed from the dims bound so far and the reductions up
  /// to `level`.
  void hoist(mlir::ValueRange targets, unsigned level);

  /// A column is summed at `address`, in elements of its value's type.
  void addUpAt(unsigned result, mlir::Value address) { partials[result] = address; }

  /// Stores a value of the type in which a column is summed, at its result's offset behind `base`.
  void storeSum(unsigned result, mlir::Value base, mlir::Value sum);

  /// Stores the results (or adds them), all values before the first store.
  void store(llvm::ArrayRef<unsigned> results);

  mlir::Value index(int64_t value);
  bool hasLanes() const { return state.lanesDim.has_value(); }
  mlir::Value broadcast(mlir::Value value);
  /// Selects `value` in existing lanes and `otherwise` in others.
  mlir::Value selectActive(mlir::Value value, mlir::Value otherwise);

protected:
  /// An offset split into what is the same for all lanes and how lanes differ.
  struct LaneOffset {
    mlir::Value uniform;
    int64_t laneStride = 0;  ///< between neighbouring lanes
    mlir::Value laneOffsets; ///< a vector, added to the others; null if there is none
    bool isUniform() const { return laneStride == 0 && !laneOffsets; }
    bool isContiguous() const { return laneStride == 1 && !laneOffsets; }
  };

  /// Reads the lanes of what `base` points to where `active` (i1, a vector of it, or null for
  /// everywhere) holds; other lanes may have any value.
  virtual mlir::Value readLanes(const LaneOffset &offset, mlir::Value base, mlir::Type element,
                                mlir::Value active) = 0;
  virtual void writeLanes(const LaneOffset &offset, mlir::Value base, mlir::Type element,
                          mlir::Value stored) = 0;
  /// A load in lanes is about to be emitted.
  virtual void beforeLoad(const LinearForm &form, const LaneOffset &offset, unsigned operand,
                          mlir::Type element) {}
  /// A load in lanes at numbers that are computed, in a way of the target's own; null for the
  /// common one.
  virtual mlir::Value emitLookup(KernelLoadOp op, const LinearForm &form) { return {}; }
  /// A value that the target computes in a way of its own; null for the common one.
  virtual mlir::Value emitSpecial(mlir::Operation *op) { return {}; }

  LaneOffset offsetOf(const LinearForm &form, mlir::ValueRange symbols);
  mlir::Value offsets(const LaneOffset &offset);
  mlir::Value pointer(mlir::Value base, mlir::Type element, mlir::Value offset);
  bool isVector(mlir::Value value) const { return mlir::isa<mlir::VectorType>(value.getType()); }
  mlir::Value lanesMask(int64_t active);
  /// The value that `read` emits where `active` (i1, or null for true) holds, otherwise 0.
  mlir::Value readWhere(mlir::Value active, mlir::Type type,
                        llvm::function_ref<mlir::Value()> read);
  mlir::Type inLanes(mlir::Type type) const { return mlir::VectorType::get({state.lanes}, type); }

  mlir::ImplicitLocOpBuilder &b;
  const NormalKernel &kernel;
  llvm::SmallVector<mlir::Value> operands;
  mlir::Value fault;
  mlir::Type indexType;
  llvm::SmallDenseMap<unsigned, mlir::Value> partials; ///< of column sums
  State state;

private:
  void emit(mlir::Operation *op);
  void emitScalarOperation(mlir::Operation *op);
  mlir::Value emitLoad(KernelLoadOp op);
  mlir::Value emitUniformLoad(KernelLoadOp op, mlir::Value pointer, mlir::Value guard);
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

#endif // MTC_CODEGEN_KERNELS_POINTEMITTER_H
