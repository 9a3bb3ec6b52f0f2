//===- Npy.cpp - Reader for NumPy's .npy files ------------------------------------------------===//

#include "support/compiler/Npy.h"

#include "support/compiler/InputFile.h"
#include "support/compiler/Problems.h"
#include "support/files/npy.h"

#include "llvm/Support/Endian.h"

#include <cstring>

using namespace llvm;

namespace mtc {

Expected<NpyArray> readNpy(StringRef path) {
  auto fail = [&](const Twine &reason) { return problem("file " + quoted(path) + " " + reason); };
  Expected<InputFile> file = readInputFile(path, anyBytes, FileForm::Binary);
  if (!file)
    return fail(toString(file.takeError()));
  const StringRef text = file->bytes();
  std::string reason;
  std::optional<files::NpyHeader> header = files::readNpyHeader(
      static_cast<int64_t>(text.size()),
      [&](int64_t offset, void *to, int64_t bytes) {
        std::memcpy(to, text.data() + offset, static_cast<size_t>(bytes));
      },
      reason);
  if (!header)
    return fail(reason);
  const ArrayRef<char> data(text.begin() + header->dataOffset, text.end());
  if (static_cast<int64_t>(data.size()) != header->dataBytes)
    return fail("holds " + Twine(data.size()) + " bytes of data, but its shape needs " +
                Twine(header->dataBytes));
  return NpyArray{header->type, std::move(header->shape), data, std::move(file->content)};
}

template <typename Element> static std::vector<double> asNumbers(ArrayRef<char> bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(Element));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<double>(
        support::endian::read<Element, endianness::little>(bytes.data() + i * sizeof(Element)));
  return numbers;
}

Expected<std::vector<double>> readNpyNumbers(StringRef path) {
  Expected<NpyArray> array = readNpy(path);
  if (!array)
    return array.takeError();
  switch (array->type) {
  case MTC_F32:
    return asNumbers<float>(array->bytes);
  case MTC_F64:
    return asNumbers<double>(array->bytes);
  case MTC_I32:
    return asNumbers<int32_t>(array->bytes);
  case MTC_I64:
    return asNumbers<int64_t>(array->bytes);
  default:
    return problem("file " + quoted(path) +
                   " has elements of another type than float32, float64, int32 or int64");
  }
}

} // namespace mtc
