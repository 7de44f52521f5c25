// The headers that nearly every test includes (cmake/module.cmake).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "precompiled.h"
