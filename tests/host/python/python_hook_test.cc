#include "host/python/python_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/text.h"
#include "host/process/child_process.h"
#include "host/process/line_splitter.h"
#include "host/process/log_entry.h"
#include "places.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAreArray;

TEST(PythonHook, IsWrittenOnceAndMendedWhenDamaged) {
  TemporaryDirectory state;
  const auto directory = InstallPythonHook(state.path());
  ASSERT_TRUE(directory.ok()) << directory.error().message;
  const Path file = *directory / "sitecustomize.py";
  EXPECT_EQ(ReadFile(file).value(), PythonHookText());
  EXPECT_THAT(directory->string(), StartsWith((state.path() / "python/").string()));
  const auto written = std::filesystem::last_write_time(file);
  EXPECT_EQ(InstallPythonHook(state.path()).value(), *directory);
  EXPECT_EQ(std::filesystem::last_write_time(file), written);
  ASSERT_TRUE(WriteFile(file, "import nothing").ok());
  EXPECT_EQ(InstallPythonHook(state.path()).value(), *directory);
  EXPECT_EQ(ReadFile(file).value(), PythonHookText());
}

TEST(PythonHook, IsTheFileOfTheSourceTree) {
  EXPECT_EQ(PythonHookText(),
            ReadFile(Path(CAIP_SOURCE_DIR) / "src/host/python/sitecustomize.py").value());
}

TEST(PythonHook, SaysWhyItCannotBeWritten) {
  TemporaryDirectory state;
  ASSERT_TRUE(WriteFile(state.path() / "python", "a file").ok());
  const auto directory = InstallPythonHook(state.path());
  ASSERT_FALSE(directory.ok());
  EXPECT_THAT(directory.error().message, HasSubstr("could not be written: "));
  EXPECT_THAT(directory.error().message, HasSubstr((state.path() / "python").string()));
}

/// What an interpreter with the hook printed; stderr as entries, "LEVEL file:line message" or, of
/// plain lines, "LEVEL message".
struct Printed {
  int exit_code = -1;
  std::string out;
  std::vector<std::string> entries;
};

std::string Shown(const host::CapturedEntry& entry) {
  std::string text(run::Name(entry.severity));
  if (!entry.pathname.empty()) {
    text +=
        " " + Path(entry.pathname).filename().string() + ":" + std::to_string(entry.line_number);
  }
  if (!entry.thread.empty()) text += " (thread)";
  return text + " " + ReplaceAll(std::string(entry.message), "\n", "|");
}

std::vector<std::string> EntriesOf(const std::string& err) {
  std::vector<std::string> entries;
  const host::LineClassifier::Emit emit = [&](const host::CapturedEntry& entry) {
    entries.push_back(Shown(entry));
  };
  host::LineClassifier classifier(host::OutputStream::kStderr);
  LineSplitter lines(256 << 10);
  lines.Feed(err, [&](std::string_view line) { classifier.Feed(line, emit); });
  lines.Finish([&](std::string_view line) { classifier.Feed(line, emit); });
  classifier.Finish(emit);
  return entries;
}

/// The system's Python, and the oldest and the newest that pyenv has.
std::vector<std::string> PythonsOfThisHost() {
  std::vector<std::pair<int, std::string>> found;  // by minor version
  const char* home = std::getenv("HOME");
  std::error_code none;
  for (const auto& entry :
       std::filesystem::directory_iterator(Path(home ? home : "/") / ".pyenv/versions", none)) {
    const std::string version = entry.path().filename();
    const Path program = entry.path() / "bin/python3";
    if (!version.starts_with("3.") || !std::filesystem::exists(program)) continue;
    found.emplace_back(std::atoi(version.c_str() + 2), program);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> programs = {"/usr/bin/python3"};
  if (!found.empty()) programs.push_back(found.front().second);
  if (found.size() > 1) programs.push_back(found.back().second);
  return programs;
}

std::vector<Path> FilesIn(const Path& directory) {
  std::vector<Path> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
    files.push_back(entry.path());
  }
  return files;
}

class PythonHookIn : public ::testing::TestWithParam<std::string> {
 protected:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  /// Runs the program as `task.py` of a replica.
  Printed Python(const std::string& program, const Variables& variables = {}) {
    const auto hook = InstallPythonHook(directory_.path());
    EXPECT_TRUE(hook.ok());
    const std::string task = (directory_.path() / "task.py").string();
    EXPECT_TRUE(WriteFile(task, program).ok());
    Tool tool{.argv = {GetParam(), task},
              .environment = {{"PATH", "/usr/bin:/bin"},
                              {"LANG", "C.UTF-8"},
                              {"PYTHONUNBUFFERED", "1"},
                              {"PYTHONPATH", hook->string() + further_path_}}};
    tool.environment.insert(tool.environment.end(), variables.begin(), variables.end());
    const auto output = CaptureTool(std::move(tool));
    EXPECT_TRUE(output.ok()) << output.error().message;
    if (!output.ok()) return {};
    return {output->result.exit_code, output->out, EntriesOf(output->err)};
  }

  TemporaryDirectory directory_;
  std::string further_path_;
};

INSTANTIATE_TEST_SUITE_P(Pythons, PythonHookIn, ::testing::ValuesIn(PythonsOfThisHost()),
                         [](const auto& python) {
                           return "Number" + std::to_string(python.index);
                         });

constexpr char kOneOfEach[] = R"(import logging
for level in (10, 20, 25, 30, 40, 50):
    logging.getLogger("trainer").log(level, "at %d", level)
)";

TEST_P(PythonHookIn, RecordsHaveTheirLevelAndPlaceFromInfoUp) {
  EXPECT_THAT(Python(kOneOfEach).entries,
              ElementsAre("INFO task.py:3 at 20", "INFO task.py:3 at 25", "WARNING task.py:3 at 30",
                          "ERROR task.py:3 at 40", "CRITICAL task.py:3 at 50"));
}

TEST_P(PythonHookIn, TheLeastLevelIsTheUsersChoice) {
  const struct {
    const char* level;
    size_t entries;
  } cases[] = {{"DEBUG", 6}, {"WARNING", 3}, {"ERROR", 2}, {"CRITICAL", 1}, {"", 5}, {"loud", 5}};
  for (const auto& c : cases) {
    EXPECT_EQ(Python(kOneOfEach, {{"CLOUD_ML_LOG_LEVEL", c.level}}).entries.size(), c.entries)
        << c.level;
  }
}

TEST_P(PythonHookIn, ARecordIsOneEntryWithItsLinesAndItsException) {
  const Printed run = Python(R"(import logging
logging.info("one\ntwo \u03c0 %s", "\udc80")
try:
    {}["key"]
except KeyError:
    logging.exception("no such")
)");
  ASSERT_EQ(run.entries.size(), 2u);
  EXPECT_EQ(run.entries[0], "INFO task.py:2 one|two \u03c0 ?");
  EXPECT_THAT(run.entries[1],
              StartsWith("ERROR task.py:6 no such|Traceback (most recent call last):|  File "));
  EXPECT_THAT(run.entries[1], HasSubstr("|KeyError: 'key'"));
}

TEST_P(PythonHookIn, LongRecordsBecomeSeveralEntriesAndLoseNothing) {
  const Printed run = Python(R"(import logging
logging.info("\x01" * 100000)
)");
  ASSERT_EQ(run.entries.size(), 3u);
  size_t characters = 0;
  for (const std::string& entry : run.entries) {
    EXPECT_THAT(entry, StartsWith("INFO task.py:2 \x01"));
    characters += static_cast<size_t>(std::count(entry.begin(), entry.end(), '\x01'));
  }
  EXPECT_EQ(characters, 100000u);
}

TEST_P(PythonHookIn, UncaughtExceptionsAndPrintedLinesAreAsBefore) {
  const Printed run = Python(R"(import logging, sys
sys.stderr.write("10%"); sys.stderr.flush()
logging.info("on")
print("out")
sys.stderr.write("end\n")
raise ValueError("no")
)");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "out\n");
  ASSERT_EQ(run.entries.size(), 4u);
  EXPECT_EQ(run.entries[0], "ERROR 10%");
  EXPECT_EQ(run.entries[1], "INFO task.py:3 on");
  EXPECT_EQ(run.entries[2], "ERROR end");
  EXPECT_THAT(run.entries[3], StartsWith("ERROR Traceback (most recent call last):|"));
}

TEST_P(PythonHookIn, RootHasAHandlerSoBasicConfigDoesNothingUnlessForced) {
  const Printed run = Python(R"(import logging
logging.basicConfig(format="other %(message)s", level=logging.DEBUG)
logging.info("text")
logging.debug("text")
root = logging.getLogger()
root.handlers[0].close()
root.removeHandler(root.handlers[0])
logging.basicConfig(format="other %(message)s")
logging.info("mine")
)");
  EXPECT_THAT(run.entries, ElementsAre("INFO task.py:3 text", "ERROR other mine"));
}

TEST_P(PythonHookIn, LoggersWithAHandlerOfTheirOwnPrintAsBefore) {
  const Printed run = Python(R"(import logging
own = logging.getLogger("own")
own.addHandler(logging.StreamHandler())
own.warning("twice")
own.propagate = False
own.warning("once")
)");
  EXPECT_THAT(run.entries, UnorderedElementsAreArray(std::vector<std::string>{
                               "ERROR twice", "WARNING task.py:4 twice", "ERROR once"}));
}

TEST_P(PythonHookIn, LinesOfThreadsAndForkedProcessesDoNotMix) {
  const Printed run = Python(R"(import logging, multiprocessing, threading
def say(count):
    for i in range(count):
        logging.info("x" * 3000)
threads = [threading.Thread(target=say, args=(50,)) for _ in range(4)]
context = multiprocessing.get_context("fork")
processes = [context.Process(target=say, args=(50,)) for _ in range(2)]
for each in processes + threads:
    each.start()
for each in threads + processes:
    each.join()
logging.info("%s", [p.exitcode for p in processes])
)");
  ASSERT_EQ(run.entries.size(), 301u);
  const std::string text(3000, 'x');
  EXPECT_EQ(std::count(run.entries.begin(), run.entries.end(), "INFO task.py:4 " + text), 100);
  EXPECT_EQ(std::count(run.entries.begin(), run.entries.end(), "INFO task.py:4 (thread) " + text),
            200);
  EXPECT_EQ(run.entries.back(), "INFO task.py:12 [0, 0]");
}

TEST_P(PythonHookIn, LoggingIsNotImportedForThoseWhoDoNotUseIt) {
  EXPECT_EQ(Python("import sys\nprint('logging' in sys.modules, 'json' in sys.modules)\n").out,
            "False False\n");
}

// A replica that has a machine cannot write below the directory of the hook.
TEST_P(PythonHookIn, IsCompiledOnceForAllReplicas) {
  const Path hook = InstallPythonHook(directory_.path()).value();
  Interpreter interpreter;
  interpreter.executable = GetParam();
  const Printed run = Python("import sys\nprint('%d.%d' % sys.version_info[:2])\n",
                             {{"PYTHONDONTWRITEBYTECODE", "1"}});
  interpreter.minor = ParsePythonMinor(Trim(run.out)).value();
  ASSERT_FALSE(std::filesystem::exists(hook / "__pycache__"));

  CompilePythonHook(hook, interpreter);
  const std::vector<Path> compiled = FilesIn(hook / "__pycache__");
  ASSERT_EQ(compiled.size(), 1u);
  const auto made = std::filesystem::last_write_time(compiled.front());
  Python("pass\n");  // it would compile the file that it cannot use, and write it again
  EXPECT_EQ(std::filesystem::last_write_time(compiled.front()), made);

  ASSERT_TRUE(WriteFile(compiled.front(), "not compiled").ok());
  CompilePythonHook(hook, interpreter);
  EXPECT_EQ(ReadFile(compiled.front()).value(), "not compiled") << "it was compiled twice";
}

TEST_P(PythonHookIn, NeedNotBeCompiled) {
  const Path hook = InstallPythonHook(directory_.path()).value();
  Interpreter interpreter;
  interpreter.executable = "/bin/false";
  CompilePythonHook(hook, interpreter);
  const Printed run = Python("import logging\nlogging.info('text')\n");
  EXPECT_THAT(run.entries, ElementsAre("INFO task.py:2 text"));
}

TEST_P(PythonHookIn, LoggingIsLoadedAsEver) {
  const Printed run = Python(R"(import importlib.util, sys
before = importlib.util.find_spec("logging")
import logging
print(vars(logging.__loader__) == {"name": "logging", "path": logging.__file__})
print([f for f in sys.meta_path if type(f).__name__ == "_LoggingFinder"])
print(len(logging.getLogger().handlers))
)");
  EXPECT_EQ(run.out, "True\n[]\n1\n");
}

TEST_P(PythonHookIn, TheHiddenSitecustomizeRunsAndHasTheName) {
  const Path other = directory_.path() / "other";
  ASSERT_TRUE(MakeDirectories(other).ok());
  ASSERT_TRUE(WriteFile(other / "sitecustomize.py",
                        "import sys\nmark = 'other'\nsys.path.append('/theirs')\n")
                  .ok());
  further_path_ = ":" + other.string();
  const Printed run = Python(R"(import logging, sitecustomize, sys
print(sitecustomize.mark, sys.path[-1])
print(sys.path[1].split("/")[-2], sys.path[2].split("/")[-1])
logging.info("text")
)");
  EXPECT_EQ(run.out, "other /theirs\npython other\n");
  EXPECT_THAT(run.entries, ElementsAre("INFO task.py:4 text"));
}

TEST_P(PythonHookIn, AFailingHiddenSitecustomizeFailsAsEver) {
  const Path other = directory_.path() / "other";
  ASSERT_TRUE(MakeDirectories(other).ok());
  ASSERT_TRUE(WriteFile(other / "sitecustomize.py", "raise ValueError('theirs')\n").ok());
  further_path_ = ":" + other.string();
  const Printed run = Python("import logging\nlogging.info('text')\n");
  EXPECT_EQ(run.exit_code, 0);
  ASSERT_FALSE(run.entries.empty());
  EXPECT_THAT(Join(run.entries, "\n"), HasSubstr("ValueError: theirs"));
  EXPECT_EQ(run.entries.back(), "INFO task.py:2 text");
}

TEST_P(PythonHookIn, AChildWhoseStderrGoesElsewhereIsLeftAlone) {
  const Printed run = Python(R"(import subprocess, sys
program = "import logging; logging.warning('text') "
child = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE)
print(child.communicate()[1].decode().strip())
subprocess.check_call([sys.executable, "-c", program])
)");
  EXPECT_EQ(run.out, "WARNING:root:text\n");
  EXPECT_THAT(run.entries, ElementsAre("WARNING <string>:1 text"));
}

TEST_P(PythonHookIn, ATrainerMayMoveOrCloseItsStderr) {
  const Printed moved = Python(R"(import logging, os, sys
read, write = os.pipe()
kept = os.dup(2)
os.dup2(write, 2)
logging.warning("text")
os.dup2(kept, 2)
print(os.read(read, 1000).decode().strip())
logging.warning("back")
os.close(2)
logging.warning("lost")
print("alive")
)");
  EXPECT_EQ(moved.exit_code, 0);
  EXPECT_EQ(moved.out, "WARNING:root:text\nalive\n");
  EXPECT_THAT(moved.entries, ElementsAre("WARNING task.py:8 back"));
}

TEST_P(PythonHookIn, AModuleOfTheTrainerMayBeCalledLogging) {
  ASSERT_TRUE(WriteFile(directory_.path() / "logging.py", "mark = 'mine'\n").ok());
  const Printed run = Python("import logging\nprint(logging.mark)\n");
  EXPECT_EQ(run.out, "mine\n");
  EXPECT_THAT(run.entries, IsEmpty());
}

}  // namespace
}  // namespace caip::host
