#pragma once
// The version of caip; CMakeLists.txt hands it in.

namespace caip::app {

inline constexpr char kVersion[] = CAIP_VERSION;

}  // namespace caip::app
