// The doctor where /proc is hidden.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "host/process/child_process.h"
#include "tests/support/caip_command.h"

namespace caip::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

host::ToolOutput RunWithoutProc(const std::vector<std::string>& words) {
  std::vector<std::string> argv = {"unshare",
                                   "--user",
                                   "--map-root-user",
                                   "--mount",
                                   "sh",
                                   "-c",
                                   "mount -t tmpfs none /proc && exec \"$@\"",
                                   "sh"};
  argv.insert(argv.end(), words.begin(), words.end());
  auto output = host::CaptureTool(
      {.argv = argv, .environment = host::OwnEnvironment(), .timeout = std::chrono::minutes(2)});
  if (output.ok()) return *std::move(output);
  return {.result = {.exit_code = 127}, .out = "", .err = output.error().message};
}

TEST(HiddenProc, LetsNoEmulatorRunAndTheDoctorReportsIt) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need /proc";
#endif
  if (!RunWithoutProc({"true"}).result.ok()) {
    GTEST_SKIP() << "no user namespace can be made in which to hide something";
  }
  CaipCommand caip;
  const host::ToolOutput serve =
      RunWithoutProc(caip.Argv({"serve", "--port", "0", "--isolation", "process"}));
  EXPECT_EQ(serve.result.exit_code, 1);
  EXPECT_THAT(serve.err, HasSubstr("/proc is hidden"));
  const host::ToolOutput doctor = RunWithoutProc(caip.Argv({"doctor", "--format", "json"}));
  for (const Json& fact : Json::parse(doctor.out, nullptr, false)) {
    if (StringOr(fact, "name") != "isolation") continue;
    EXPECT_EQ(StringOr(fact, "found"), "no");
    EXPECT_THAT(StringOr(fact, "costWhenMissing"),
                AllOf(HasSubstr("no emulator can run here"), HasSubstr("Mount /proc"),
                      Not(HasSubstr("replicas share"))));
    return;
  }
  ADD_FAILURE() << "the doctor has no line about the isolation: " << doctor.out << doctor.err;
}

}  // namespace
}  // namespace caip::testing
