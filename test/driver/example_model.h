// The model for the driver's tests of planning.
#ifndef MTC_TEST_DRIVER_EXAMPLE_MODEL_H
#define MTC_TEST_DRIVER_EXAMPLE_MODEL_H

namespace mtc::test {

extern const char *const exampleModel;

} // namespace mtc::test

#endif // MTC_TEST_DRIVER_EXAMPLE_MODEL_H
