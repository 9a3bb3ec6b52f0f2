// The precompiled header of unit tests of the compiler. Each file still includes what it
// uses.
#ifndef MTC_TEST_SUPPORT_COMPILERPRECOMPILED_H
#define MTC_TEST_SUPPORT_COMPILERPRECOMPILED_H

#include "cmake/mtc_frontend_pch.h"

#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#endif // MTC_TEST_SUPPORT_COMPILERPRECOMPILED_H
