//===- PointEmitter.h - The values of a kernel's body at a point, or at a vector of points ----===//

#ifndef MTC_CODEGEN_CPU_POINTEMITTER_H
#define MTC_CODEGEN_CPU_POINTEMITTER_H

#include "codegen/KernelAnalysis.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::cpu {

/// Emits values of a body where they are asked for. Dims are bound to scalars, one of them to
/// lanes; a value that depends on the lanes' dim is a vector, others are scalars. What was emitted
/// is remembered until the enclosing `Scope` ends, so a value asked for before a loop is reused
/// inside.
class PointEmitter {
public:
  PointEmitter(mlir::ImplicitLocOpBuilder &b, const NormalKernel &kernel, mlir::ValueRange operands,
               mlir::Value fault)
      : b(b), kernel(kernel), operands(operands.begin(), operands.end()), fault(fault),
        dims(kernel.rank()) {}

  /// Bindings and values made while it lives are forgotten at its end.
  class Scope {
  public:
    explicit Scope(PointEmitter &emitter)
        : emitter(emitter), values(emitter.values), dims(emitter.dims), bound(emitter.bound),
          lanesDim(emitter.lanesDim), lanes(emitter.lanes), activeLanes(emitter.activeLanes),
          mask(emitter.mask), prefetchDim(emitter.prefetchDim) {}
    ~Scope() {
      emitter.values = std::move(values);
      emitter.dims = std::move(dims);
      emitter.bound = bound;
      emitter.lanesDim = lanesDim;
      emitter.lanes = lanes;
      emitter.activeLanes = activeLanes;
      emitter.mask = mask;
      emitter.prefetchDim = prefetchDim;
    }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    PointEmitter &emitter;
    llvm::DenseMap<mlir::Value, mlir::Value> values;
    llvm::SmallVector<mlir::Value> dims;
    DimSet bound;
    std::optional<unsigned> lanesDim;
    int64_t lanes, activeLanes;
    mlir::Value mask;
    std::optional<unsigned> prefetchDim;
  };

  void bindDim(unsigned dim, mlir::Value index);
  /// Lanes at start, start + 1, ...; only the first `active` of them exist.
  void bindLanes(unsigned dim, mlir::Value start, int64_t lanes, int64_t active);
  /// Gives a value of the body (a reduction's result) as it was computed elsewhere.
  void define(mlir::Value bodyValue, mlir::Value value) { values[bodyValue] = value; }

  /// Contiguous loads that jump far from one index of this dim to the next are fetched ahead of
  /// time; a loop over the dim is being emitted.
  void prefetchAlong(unsigned dim) { prefetchDim = dim; }

  /// A value of the body: a scalar, or a vector if it depends on the lanes' dim.
  mlir::Value get(mlir::Value bodyValue);
  /// The same as a vector in any case.
  mlir::Value getLanes(mlir::Value bodyValue);
  /// Emits what `targets` need and can be computed from the dims bound so far and the reductions up
  /// to `level`.
  void hoist(mlir::ValueRange targets, unsigned level);

  /// A total is added up at `place`, in elements of its value's type.
  void addUpAt(unsigned result, mlir::Value place) { partials[result] = place; }

  /// Stores the results (or adds them), all values before the first store.
  void store(llvm::ArrayRef<unsigned> results);

  /// A load at the bound lanes and, for each of them, the next `rows` elements of memory: for each
  /// of those one vector over the lanes. The dim along which memory runs is bound to its first
  /// index.
  llvm::SmallVector<mlir::Value> loadTransposed(KernelLoadOp load, int64_t rows);

  /// Zeroes `count` elements of a result from its place at the owned dims' indices, moved by
  /// `offset` elements; where lanes are bound, one element for each lane.
  void storeZeros(unsigned result, mlir::Value offset, int64_t count);

  mlir::Value index(int64_t value);
  bool hasLanes() const { return lanesDim.has_value(); }
  mlir::Value broadcast(mlir::Value value);
  /// Selects `value` in existing lanes and `otherwise` in others.
  mlir::Value selectActive(mlir::Value value, mlir::Value otherwise);

private:
  /// An offset split into what is the same for all lanes and how lanes differ.
  struct Place {
    mlir::Value uniform;     ///< i64
    int64_t laneStride = 0;  ///< between neighbouring lanes
    mlir::Value laneOffsets; ///< vector of i64, added to the others; null if there is none
    bool isUniform() const { return laneStride == 0 && !laneOffsets; }
    bool isContiguous() const { return laneStride == 1 && !laneOffsets; }
  };

  void emit(mlir::Operation *op);
  void emitScalarOperation(mlir::Operation *op);
  mlir::Value emitLoad(KernelLoadOp op);
  mlir::Value emitGuardedUniformLoad(KernelLoadOp op, mlir::Value pointer, mlir::Value guard);
  mlir::Value emitCheck(KernelCheckOp op);
  void raiseFault(mlir::Value bad, mlir::Value index, int64_t extent);
  void storeOne(unsigned result, const Place &place, mlir::Value value);

  void prefetch(const LinearForm &form, const Place &place, unsigned operand, mlir::Type element);
  Place place(const LinearForm &form, mlir::ValueRange symbols);
  mlir::Value offsets(const Place &place);
  mlir::Value pointer(unsigned operand, mlir::Type element, mlir::Value offset);
  mlir::Value pointer(mlir::Value base, mlir::Type element, mlir::Value offset);
  mlir::Value expand(mlir::AffineExpr expr, llvm::ArrayRef<mlir::Value> symbols, bool inLanes);
  mlir::Value lanesIndex(unsigned dim);
  mlir::Value readLanes(const Place &place, mlir::Value base, mlir::Type element, mlir::Value mask);
  void writeLanes(const Place &place, mlir::Value base, mlir::Type element, mlir::Value value);
  bool isVector(mlir::Value value) const { return mlir::isa<mlir::VectorType>(value.getType()); }
  mlir::Value lanesMask(int64_t active);
  mlir::Type inLanes(mlir::Type type) const { return mlir::VectorType::get({lanes}, type); }

  mlir::ImplicitLocOpBuilder &b;
  const NormalKernel &kernel;
  llvm::SmallVector<mlir::Value> operands;
  mlir::Value fault;
  llvm::SmallDenseMap<unsigned, mlir::Value> partials; ///< of totals

  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::SmallVector<mlir::Value> dims;
  DimSet bound = 0;
  std::optional<unsigned> lanesDim;
  int64_t lanes = 1;
  int64_t activeLanes = 1;
  mlir::Value mask; ///< vector of i1; null if all lanes exist
  std::optional<unsigned> prefetchDim;
};

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_POINTEMITTER_H
