// The RECORD of an installed distribution.
#include "host/python/installed_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caip::host {
namespace {

using testing::ElementsAre;

InstalledRecord RecordWith(const std::string& text, const std::vector<std::string>& members = {}) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(WriteFile(directory.path() / "RECORD", text).ok());
  auto record = InstalledRecord::Read(directory.path());
  EXPECT_TRUE(record.ok());
  record->SetMembers(members);
  return *std::move(record);
}

TEST(InstalledRecord, TellsWhichFileAMemberBecame) {
  const auto record = RecordWith("t/__init__.py,sha256=a,0\r\nt/task.py,sha256=b,9\r\n");
  EXPECT_EQ(record.InstalledAs("src/t/task.py"), "t/task.py");
  EXPECT_EQ(record.InstalledAs("src/t/other.py"), "");
}

TEST(InstalledRecord, TellsNoFileOfAMemberThatIsInstalledTwice) {
  for (const std::string copy : {"../../../bin/task.py,sha256=c,8",
                                 "../../../share/t/task.py,sha256=b,9", "u/task.py,sha256=b,9"}) {
    const auto record = RecordWith("t/task.py,sha256=b,9\n" + copy + "\n");
    EXPECT_EQ(record.InstalledAs("t/task.py"), "") << copy;
  }
  const auto others = RecordWith(
      "t/__init__.py,sha256=e,0\nt/sub/__init__.py,sha256=e,0\n"
      "t/task.py,sha256=b,9\nt/sub/task.py,sha256=c,8\n");
  EXPECT_EQ(others.InstalledAs("src/t/__init__.py"), "t/__init__.py") << "both are empty";
  EXPECT_EQ(others.InstalledAs("src/t/task.py"), "t/task.py") << "another module";
}

TEST(InstalledRecord, TellsWhetherPipCompiledAModule) {
  const std::string module = "t/task.py,sha256=b,9\r\n";
  const std::string compiled = "t/__pycache__/task.cpython-311.pyc,,\r\n";
  EXPECT_TRUE(RecordWith(module + compiled).HasCompiled("t/task.py"));
  EXPECT_FALSE(RecordWith(module).HasCompiled("t/task.py"));
  EXPECT_FALSE(
      RecordWith(module + "t/__pycache__/task.cpython-311.opt-1.pyc,sha256=c,5\r\n" + compiled)
          .HasCompiled("t/task.py"))
      << "the build compiled it, too";
}

TEST(InstalledRecord, PlacesNewModulesInPackages) {
  const std::string task = "t/task.py,sha256=b,9\nt/__pycache__/task.cpython-311.pyc,,\n";
  const std::string init = "t/__init__.py,sha256=e,0\nt/__pycache__/__init__.cpython-311.pyc,,\n";
  EXPECT_EQ(RecordWith(task + init).PlaceFor("t/new.py", {"t/__init__.py", "t/task.py"}),
            "t/new.py");
  EXPECT_EQ(RecordWith(task).PlaceFor("t/new.py", {"t/task.py"}), "") << "it may be data";
}

TEST(InstalledRecord, ReadsNamesInQuotes) {
  EXPECT_THAT(RecordWith("\"t/a, \"\"b\"\".json\",sha256=c,2\r\nt/task.py,sha256=b,9\r\n").Names(),
              ElementsAre("t/a, \"b\".json", "t/task.py"));
}

}  // namespace
}  // namespace caip::host
