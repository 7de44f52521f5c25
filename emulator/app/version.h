#pragma once
// The version of caip, from CMakeLists.txt.

namespace caip::app {

inline constexpr char kVersion[] = CAIP_VERSION;

}  // namespace caip::app
