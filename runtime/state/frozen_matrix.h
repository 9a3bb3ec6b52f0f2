// Compression of frozen matrices.
#ifndef MTC_RUNTIME_STATE_FROZEN_MATRIX_H
#define MTC_RUNTIME_STATE_FROZEN_MATRIX_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace mtc::runtime {

/// Computes the compressed form of a matrix: see runtime/abi/storage.h. Codes and scales equal
/// those of bitsandbytes 0.50 (`quantize_4bit` of its CPU backend).
class FrozenMatrix {
public:
  /// Reads f32 elements [first, first + count) of the matrix in the order of its storage.
  using Elements = std::function<void(float *to, int64_t first, int64_t count)>;

  FrozenMatrix(const MtcVariable &variable, Elements elements, int threads);

  /// Writes bytes [at, at + bytes) of the compressed form.
  void write(char *to, int64_t at, int64_t bytes);

private:
  void quantize(int64_t firstBlock, int64_t blocks);
  void writeCodes(char *to, int64_t at, int64_t bytes);
  void writeScales(char *to, int64_t at, int64_t bytes);
  void writeRounded(char *to, int64_t at, int64_t bytes);

  const MtcVariable &variable;
  Elements elements;
  int threads;
  int64_t count;              ///< elements of the matrix
  std::vector<float> read;    ///< elements of the blocks that were quantized last
  std::vector<char> codes;    ///< of these blocks
  std::vector<float> scales;  ///< of all blocks
  std::vector<bool> isScaled; ///< blocks whose scale is known
};

/// Returns the elements of a row-major value in the order of the variable's storage.
FrozenMatrix::Elements inStorageOrder(const MtcVariable &variable, const std::vector<char> &value);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_FROZEN_MATRIX_H
