// cuBLASLt's column-major matrix multiplication on the CPU, by the library calls of the target
// `cpu`, to test the descriptors that the program passes to the library.

#include "runtime/abi/contraction.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cuda/emulated/execution/emulator.h"
#include "runtime/devices/cuda/emulated/libraries/epilogue.h"
#include "runtime/devices/cuda/emulated/streams.h"
#include "runtime/devices/cuda/workspace.h"
#include "runtime/support/failure.h"
#include "runtime/support/process.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace mtc::runtime::cuda {

using namespace gpu;

struct MatmulDescriptionObject {
  int32_t transposeA = 0, transposeB = 0;
  uint32_t epilogue = plainEpilogue;
  Address bias = 0, auxiliary = 0;
  int64_t biasStride = 0, auxiliaryLeading = 0, auxiliaryStride = 0;
};
struct MatmulPreferenceObject {};
struct BlasContext {};

namespace {

constexpr int invalidValue = 7, notSupported = 15; // CUBLAS_STATUS_...

/// A matrix multiplication, which its first run plans.
struct Product {
  MtcContraction contraction = {};
  std::vector<char *> buffers;
  MatrixLayoutObject a, b, c, d;
  bool readsC;
  BlasEpilogue epilogue;
  std::unique_ptr<LibraryCall> call;
  std::vector<char> scratch;

  std::string run() {
    auto isReadable = [](char *at, int64_t bytes) {
      return emulation::findFault(at, static_cast<size_t>(bytes), true);
    };
    std::string fault = forEachRun(a, buffers[0], isReadable);
    if (fault.empty())
      fault = forEachRun(b, buffers[1], isReadable);
    if (fault.empty() && readsC)
      fault = forEachRun(c, contraction.accumulate ? buffers.back() : buffers[2], isReadable);
    if (fault.empty())
      fault = forEachRun(d, buffers.back(), [](char *at, int64_t bytes) {
        return emulation::findFault(at, static_cast<size_t>(bytes), false);
      });
    if (fault.empty())
      fault = epilogue.findFault();
    if (!fault.empty())
      return fault;
    if (!call) {
      call = LibraryCall::create(linkedLibrary(), MTC_CONTRACTION, &contraction, availableCores());
      if (!call)
        return "cuBLASLt: the processor's libraries do not have the element type";
      scratch.resize(static_cast<size_t>(call->scratchBytes() + MTC_ALIGNMENT));
    }
    void *aligned = scratch.data();
    size_t space = scratch.size();
    std::align(MTC_ALIGNMENT, 1, aligned, space);
    call->run(buffers.data(), static_cast<char *>(aligned));
    epilogue.run();
    return forEachRun(d, buffers.back(), [](char *at, int64_t bytes) {
      emulation::markDefined(at, static_cast<size_t>(bytes));
      return std::string();
    });
  }
};

int create(BlasHandle *handle) {
  *handle = new BlasContext;
  return 0;
}
int destroy(BlasHandle handle) {
  delete handle;
  return 0;
}
const char *statusText(int status) {
  return status == notSupported ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_INVALID_VALUE";
}
int createLayout(MatrixLayoutHandle *layout, int type, uint64_t rows, uint64_t columns,
                 int64_t leading) {
  if (leading < static_cast<int64_t>(rows))
    return invalidValue;
  *layout = new MatrixLayoutObject{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns),
                                   leading};
  return 0;
}
int destroyLayout(MatrixLayoutHandle layout) {
  delete layout;
  return 0;
}

template <typename Field> int take(Field &field, const void *value, size_t bytes) {
  if (bytes != sizeof field)
    return invalidValue;
  std::memcpy(&field, value, bytes);
  return 0;
}

int setLayout(MatrixLayoutHandle layout, int attribute, const void *value, size_t bytes) {
  switch (attribute) {
  case batchCount:
    return take(layout->batch, value, bytes);
  case batchStride:
    return take(layout->stride, value, bytes);
  default:
    return invalidValue;
  }
}
int createDescription(MatmulDescription *description, int, int) {
  *description = new MatmulDescriptionObject;
  return 0;
}
int destroyDescription(MatmulDescription description) {
  delete description;
  return 0;
}
int setDescription(MatmulDescription description, int attribute, const void *value, size_t bytes) {
  switch (attribute) {
  case transposeA:
    return take(description->transposeA, value, bytes);
  case transposeB:
    return take(description->transposeB, value, bytes);
  case epilogue:
    return take(description->epilogue, value, bytes);
  case biasPointer:
    return take(description->bias, value, bytes);
  case biasBatchStride:
    return take(description->biasStride, value, bytes);
  case auxiliaryPointer:
    return take(description->auxiliary, value, bytes);
  case auxiliaryLeading:
    return take(description->auxiliaryLeading, value, bytes);
  case auxiliaryBatchStride:
    return take(description->auxiliaryStride, value, bytes);
  default:
    return invalidValue;
  }
}
int createPreference(MatmulPreference *preference) {
  *preference = new MatmulPreferenceObject;
  return 0;
}
int destroyPreference(MatmulPreference preference) {
  delete preference;
  return 0;
}
int setPreference(MatmulPreference, int attribute, const void *, size_t bytes) {
  return bytes == (attribute == maxWorkspace ? 8u : 4u) ? 0 : invalidValue;
}

BlasEpilogue epilogueOf(const MatmulDescriptionObject &description, const MatrixLayoutObject &a,
                        const MatrixLayoutObject &b, const MatrixLayoutObject &d) {
  return {description.epilogue,
          description.auxiliary,
          description.auxiliaryLeading,
          description.auxiliaryStride,
          description.bias,
          description.transposeA != 0,
          description.transposeB != 0,
          a,
          b,
          d};
}

/// Returns whether the shapes match and the library supports the epilogue.
bool fits(const MatmulDescriptionObject &description, const MatrixLayoutObject &a,
          const MatrixLayoutObject &b, const MatrixLayoutObject &c, const MatrixLayoutObject &d) {
  auto rows = [](const MatrixLayoutObject &m, int32_t t) { return t ? m.columns : m.rows; };
  auto columns = [](const MatrixLayoutObject &m, int32_t t) { return t ? m.rows : m.columns; };
  return rows(a, description.transposeA) == d.rows &&
         columns(b, description.transposeB) == d.columns &&
         columns(a, description.transposeA) == rows(b, description.transposeB) &&
         a.type == b.type && c.type == d.type &&
         (d.type == a.type || (d.type == blasF32 && a.type != blasF64)) && c.rows == d.rows &&
         c.columns == d.columns && a.batch == d.batch && b.batch == d.batch && c.batch == d.batch &&
         epilogueOf(description, a, b, d).isSupported();
}

int findAlgorithms(BlasHandle, MatmulDescription description, MatrixLayoutHandle a,
                   MatrixLayoutHandle b, MatrixLayoutHandle c, MatrixLayoutHandle d,
                   MatmulPreference, int, MatmulHeuristic *found, int *count) {
  const bool isFound = fits(*description, *a, *b, *c, *d);
  *count = isFound ? 1 : 0;
  *found = {};
  return isFound ? 0 : notSupported;
}

void setStrides(int64_t *strides, int64_t batch, int64_t first, int64_t second) {
  strides[0] = batch;
  strides[1] = first;
  strides[2] = second;
}

int matmul(BlasHandle, MatmulDescription description, const void *, const void *a,
           MatrixLayoutHandle aLayout, const void *b, MatrixLayoutHandle bLayout, const void *beta,
           const void *c, MatrixLayoutHandle cLayout, void *d, MatrixLayoutHandle dLayout,
           const MatmulAlgorithm *, void *workspace, size_t workspaceBytes, Stream stream) {
  const bool isAligned = reinterpret_cast<Address>(workspace) % workspaceAlignment == 0;
  if (!isAligned || !fits(*description, *aLayout, *bLayout, *cLayout, *dLayout))
    return invalidValue;
  auto address = [](const void *pointer) {
    return static_cast<char *>(const_cast<void *>(pointer));
  };
  auto product = std::make_shared<Product>();
  product->a = *aLayout;
  product->b = *bLayout;
  product->c = *cLayout;
  product->d = *dLayout;
  product->buffers = {address(a), address(b)};
  MtcContraction &contraction = product->contraction;
  mtc_set_contraction_types(&contraction, elementType(aLayout->type));
  contraction.out_type = elementType(dLayout->type);
  std::fill_n(contraction.addend_types, MTC_MAX_ADDENDS, contraction.out_type);
  // The order of sums must not depend on the rows and columns of a rank.
  contraction.algorithm = MTC_OWN_PANELS;
  contraction.batch_rank = 1;
  contraction.batch[0] = dLayout->batch;
  contraction.m = dLayout->rows;
  contraction.n = dLayout->columns;
  contraction.k = description->transposeA ? aLayout->rows : aLayout->columns;
  auto operand = [](int64_t *strides, const MatrixLayoutObject &matrix, bool transposed) {
    setStrides(strides, matrix.stride, transposed ? matrix.leading : 1,
               transposed ? 1 : matrix.leading);
  };
  operand(contraction.lhs_strides, *aLayout, description->transposeA);
  operand(contraction.rhs_strides, *bLayout, description->transposeB);
  operand(contraction.out_strides, *dLayout, false);
  product->readsC = dLayout->type == blasF64 ? *static_cast<const double *>(beta) != 0
                                             : *static_cast<const float *>(beta) != 0;
  if (product->readsC && c == d) {
    contraction.accumulate = 1;
  } else if (product->readsC) {
    operand(contraction.addend_strides[contraction.addend_count++], *cLayout, false);
    product->buffers.push_back(address(c));
  }
  if (description->epilogue & biasEpilogue) {
    setStrides(contraction.addend_strides[contraction.addend_count++], description->biasStride, 1,
               0);
    product->buffers.push_back(reinterpret_cast<char *>(description->bias));
  }
  product->buffers.push_back(address(d));
  product->epilogue = epilogueOf(*description, *aLayout, *bLayout, *dLayout);
  product->epilogue.aData = address(a);
  product->epilogue.bData = address(b);
  product->epilogue.dData = address(d);
  enqueue(stream, [product, workspace, workspaceBytes] {
    std::string fault = emulation::findFault(workspace, workspaceBytes, false);
    return fault.empty() ? product->run() : "cuBLASLt's workspace: " + fault;
  });
  return 0;
}

} // namespace

const BlasLt &openBlasLt() {
  static const BlasLt blas = {
      .create = create,
      .destroy = destroy,
      .statusText = statusText,
      .createLayout = createLayout,
      .destroyLayout = destroyLayout,
      .setLayout = setLayout,
      .createDescription = createDescription,
      .destroyDescription = destroyDescription,
      .setDescription = setDescription,
      .createPreference = createPreference,
      .destroyPreference = destroyPreference,
      .setPreference = setPreference,
      .findAlgorithms = findAlgorithms,
      .matmul = matmul,
  };
  return blas;
}

} // namespace mtc::runtime::cuda
