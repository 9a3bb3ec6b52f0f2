//===- Architecture.cpp - GPU architectures to generate code for ------------------------------===//

#include "codegen/cuda/Architecture.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"

using namespace llvm;
using namespace mtc::cuda;

static std::string numberOf(const Architecture &architecture) {
  return std::to_string(architecture.major) + std::to_string(architecture.minor);
}

std::string Architecture::processor() const {
  return "sm_" + numberOf(*this) + (code == MTC_EXACT_CUBIN ? "a" : "");
}

std::string Architecture::name() const {
  return isPtx() ? "compute_" + numberOf(*this) : processor();
}

namespace {

/// The compute capabilities that both LLVM 22 and nvJitLink 13 support.
constexpr unsigned knownNumbers[] = {80, 86, 87, 89, 90, 100, 103, 110, 120, 121};

Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// Parses one name of the list `all` in --target.
Expected<Architecture> parseArchitecture(StringRef name, StringRef all) {
  constexpr unsigned firstExact = 90;
  StringRef digits = name;
  unsigned number = 0;
  MtcCudaCode code = digits.consume_front("compute_") ? MTC_PTX : MTC_CUBIN;
  bool isNamed = code == MTC_PTX || digits.consume_front("sm_");
  if (code == MTC_CUBIN && digits.consume_back("a"))
    code = MTC_EXACT_CUBIN;
  if (isNamed && !digits.getAsInteger(10, number) && is_contained(knownNumbers, number) &&
      (code != MTC_EXACT_CUBIN || number >= firstExact))
    return Architecture{number / 10, number % 10, code};
  std::string known = join(
      map_range(knownNumbers, [](unsigned each) { return "sm_" + std::to_string(each); }), ", ");
  if (name.empty())
    return makeError("--target cuda:" + all +
                     ": empty architecture name; expected names such as sm_80,sm_90");
  std::string named = name == all ? "" : ("'" + name + "': ").str();
  return makeError(
      "--target cuda:" + all + ": " + named + "unknown architecture; expected native, " + known +
      ", one from sm_90 on with the suffix 'a', or one of these numbers " + "as in compute_90");
}

/// Returns the compute capability of the first device, queried from the driver (CUDA driver API,
/// libcuda.so.1).
Expected<Architecture> findNative() {
  StringRef hint =
      "; use the architecture of the GPU that runs the program, as in --target cuda:sm_90";
  std::string reason;
  sys::DynamicLibrary driver = sys::DynamicLibrary::getPermanentLibrary("libcuda.so.1", &reason);
  if (!driver.isValid())
    return makeError("--target cuda:native: this machine has no CUDA driver (" + reason + ")" +
                     hint);
  auto initialize = reinterpret_cast<int (*)(unsigned)>(driver.getAddressOfSymbol("cuInit"));
  auto getDevice = reinterpret_cast<int (*)(int *, int)>(driver.getAddressOfSymbol("cuDeviceGet"));
  auto getAttribute =
      reinterpret_cast<int (*)(int *, int, int)>(driver.getAddressOfSymbol("cuDeviceGetAttribute"));
  if (!initialize || !getDevice || !getAttribute)
    return makeError("--target cuda:native: libcuda.so.1 is not CUDA's driver" + hint);
  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR.
  constexpr int majorAttribute = 75, minorAttribute = 76;
  int device, major, minor;
  for (int status :
       {initialize(0), getDevice(&device, 0), getAttribute(&major, majorAttribute, device),
        getAttribute(&minor, minorAttribute, device)})
    if (status)
      return makeError("--target cuda:native: the CUDA driver finds no GPU (error " +
                       Twine(status) + ")" + hint);
  const std::string name = "sm_" + std::to_string(major * 10 + minor);
  return parseArchitecture(name, name);
}

} // namespace

Expected<SmallVector<Architecture>> mtc::cuda::parseArchitectures(StringRef names) {
  SmallVector<Architecture> result;
  if (names.empty()) {
    result.push_back(Architecture());
    return result;
  }
  for (StringRef name : split(names, ',')) {
    Expected<Architecture> parsed =
        name == "native" ? findNative() : parseArchitecture(name, names);
    if (!parsed)
      return parsed.takeError();
    if (is_contained(result, *parsed))
      return makeError("--target cuda:" + names + ": " + parsed->name() + " is listed twice");
    result.push_back(*parsed);
  }
  return result;
}

SmallVector<Architecture> mtc::cuda::onePerProcessor(ArrayRef<Architecture> architectures) {
  SmallVector<Architecture> result;
  for (const Architecture &each : architectures)
    if (!each.isPtx() || !is_contained(architectures, Architecture{each.major, each.minor}))
      result.push_back(each);
  return result;
}
