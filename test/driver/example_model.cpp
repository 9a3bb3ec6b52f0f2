#include "test/driver/example_model.h"

namespace mtc::test {

const char *const exampleModel = MTC_EXAMPLES "/gpt2/gpt2.onnx";

} // namespace mtc::test
