// The precompiled header of most unit tests. Each file still includes what it uses.
#ifndef MTC_TEST_SUPPORT_PRECOMPILED_H
#define MTC_TEST_SUPPORT_PRECOMPILED_H

#include "cmake/mtc_runtime_pch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#endif // MTC_TEST_SUPPORT_PRECOMPILED_H
