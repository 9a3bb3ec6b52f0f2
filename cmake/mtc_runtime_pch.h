// Headers that many files of the runtime include, parsed once. Each file still includes what it
// uses.
#ifndef MTC_RUNTIME_PCH_H
#define MTC_RUNTIME_PCH_H

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#endif // MTC_RUNTIME_PCH_H
