#include "emulator/app/attach/owner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/clock.h"
#include "base/text.h"
#include "emulator/app/errors.h"
#include "emulator/app/settings/options.h"
#include "emulator/app/settings/settings_table.h"
#include "host/errors.h"
#include "host/store/state_directory.h"
#include "http/client.h"

extern char** environ;

namespace caip::app {
namespace {

constexpr int kStopMilliseconds = 60'000;
constexpr int kPauseMilliseconds = 10;
constexpr int kEndMilliseconds = 5'000;  // of an owner that no longer answers, after a SIGKILL
constexpr size_t kLogTailBytes = 2000;

// Waits until the process has ended; true when it has.
bool WaitForProcess(pid_t pid, int timeout_ms) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) return errno == ESRCH;
  struct pollfd wait {
    process.get(), POLLIN, 0
  };
  return ::poll(&wait, 1, timeout_ms) > 0;
}

// The first line from the pipe; "" if the other end closed without one; nullopt if none came in
// time.
std::optional<std::string> ReadLine(int descriptor, std::chrono::milliseconds patience) {
  std::string line;
  char c = 0;
  struct pollfd wait {
    descriptor, POLLIN, 0
  };
  int ready = 0;
  while ((ready = ::poll(&wait, 1, static_cast<int>(patience.count()))) > 0) {
    if (::read(descriptor, &c, 1) != 1) return "";
    if (c == '\n') return line;
    line += c;
  }
  return ready == 0 ? std::nullopt : std::optional<std::string>("");
}

// Ends a child. A process in an uninterruptible sleep may live on.
void EndChild(pid_t pid, std::chrono::milliseconds patience) {
  ::kill(pid, SIGTERM);
  if (!WaitForProcess(pid, static_cast<int>(patience.count()))) {
    ::kill(pid, SIGKILL);
    WaitForProcess(pid, kEndMilliseconds);
  }
  ::waitpid(pid, nullptr, WNOHANG);
}

// The last output of a server that failed to start, for the error.
std::string LogTail(const Path& log, off_t from) {
  const auto text = ReadFile(log);
  if (!text.ok()) return text.error().message;
  std::string_view words =
      std::string_view(*text).substr(std::min(text->size(), static_cast<size_t>(from)));
  if (words.size() > kLogTailBytes) words.remove_prefix(words.size() - kLogTailBytes);
  return std::string(Trim(words));
}

// Starts the server's process: in its own session, without a terminal, with its output in the log.
Result<pid_t> Spawn(const Path& program, const std::vector<std::string>& words, int log,
                    int ready) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::string variable = std::string(kReadyVariable) + "=3";
  std::vector<char*> environment;
  for (char** entry = environ; *entry; ++entry) environment.push_back(*entry);
  environment.push_back(const_cast<char*>(variable.c_str()));
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log, 1);
  posix_spawn_file_actions_adddup2(&actions, log, 2);
  posix_spawn_file_actions_adddup2(&actions, ready, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return errors::CannotStartServer(error);
  return pid;
}

}  // namespace

std::vector<std::string> FlagWords(const EmulatorFlags& flags) {
  std::vector<std::string> words;
  if (flags.config) words.insert(words.end(), {"--emulator-config", *flags.config});
  for (const Setting& setting : Settings()) {
    const auto given = flags.settings.find(setting.key);
    if (given == flags.settings.end()) continue;
    for (const std::string& value : given->second) {
      words.emplace_back(setting.flag);
      if (setting.form != Setting::Form::kSwitch) words.push_back(value);
    }
  }
  return words;
}

namespace {

bool IsSwitch(std::string_view flag) {
  const auto settings = Settings();
  return std::any_of(settings.begin(), settings.end(), [&](const Setting& setting) {
    return setting.flag == flag && setting.form == Setting::Form::kSwitch;
  });
}

// The flags, each with its value; a switch has none.
std::vector<std::pair<std::string, std::string>> FlagPairs(const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool has_value = !IsSwitch(words[i]) && i + 1 < words.size();
    pairs.emplace_back(words[i], has_value ? words[i + 1] : "");
    i += has_value;
  }
  return pairs;
}

}  // namespace

bool HasFlags(const std::vector<std::string>& present, const std::vector<std::string>& wanted) {
  const auto pairs = FlagPairs(present);
  const auto needed = FlagPairs(wanted);
  return std::all_of(needed.begin(), needed.end(), [&](const auto& pair) {
    return std::find(pairs.begin(), pairs.end(), pair) != pairs.end();
  });
}

EmulatorFlags WithFlags(const std::vector<std::string>& present, EmulatorFlags flags) {
  std::map<std::string, std::vector<std::string>, std::less<>> kept;
  for (const auto& pair : FlagPairs(present)) {
    const auto& [flag, value] = pair;
    if (flag == "--emulator-config") {
      if (!flags.config) flags.config = value;
      continue;
    }
    const auto settings = Settings();
    const auto setting = std::find_if(settings.begin(), settings.end(),
                                      [&](const Setting& one) { return one.flag == pair.first; });
    if (setting == settings.end()) continue;
    const bool is_repeated = setting->form == Setting::Form::kRepeated;
    if (flags.Has(setting->key) && !is_repeated) continue;
    const bool is_switch = setting->form == Setting::Form::kSwitch;
    kept[std::string(setting->key)].push_back(is_switch ? "true" : value);
  }
  // Of a repeated NAME=VALUE, a new value replaces the old one.
  const auto name_of = [](const std::string& value) { return value.substr(0, value.find('=')); };
  for (auto& [key, values] : kept) {
    std::vector<std::string>& all = flags.settings[key];
    for (const std::string& value : all) {
      std::erase_if(values, [&](const std::string& old) { return name_of(old) == name_of(value); });
    }
    values.insert(values.end(), all.begin(), all.end());
    all = std::move(values);
  }
  return flags;
}

Result<std::string> StartInBackground(const EmulatorFlags& flags, const Path& state,
                                      const ServerStart& start) {
  RETURN_IF_ERROR(MakeDirectories(state));
  const Path log_path = state / "server.log";
  const Fd log(::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log.valid()) return CannotWrite(log_path, errno);
  const off_t from = ::lseek(log.get(), 0, SEEK_END);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return CannotMakePipe(errno);
  const Fd ready(ends[0]);
  Fd tell(ends[1]);
  ASSIGN_OR_RETURN(const EmulatorOptions options, ReadOptions(flags, state));
  std::vector<std::string> words = {"caip",         "serve",          "--state",
                                    state.string(), "--idle-timeout", options.background_idle};
  for (std::string& word : FlagWords(flags)) words.push_back(std::move(word));
  ASSIGN_OR_RETURN(const pid_t server, Spawn(start.program, words, log.get(), tell.get()));
  tell.Close();
  const auto url = ReadLine(ready.get(), start.patience);
  if (!url) {
    EndChild(server, start.end_patience);
    return errors::ServerTooSlow(start.patience, LogTail(log_path, from), log_path);
  }
  if (*url == kTakenWord) return errors::OwnedByAnother();
  if (!url->empty()) return *url;
  return errors::ServerDidNotStart(LogTail(log_path, from), log_path);
}

namespace {

// Asks by a request.
Result<bool> StopServing(const host::StateOwner& owner) {
  http::Client client(owner.url);
  const auto response = client.Send(
      {.method = "POST", .target = "/emulator/v1:shutdown?owner=" + std::to_string(owner.pid)});
  if (!response.ok() || response->status != 200) {  // it may be about to end by itself
    if (WaitForProcess(owner.pid, kEndMilliseconds)) return true;
    return response.ok() ? errors::OwnerDoesNotAnswer(owner.pid, owner.url) : response.error();
  }
  if (!WaitForProcess(owner.pid, kStopMilliseconds)) {
    return errors::ServerDoesNotEnd(owner.pid);
  }
  return true;
}

// Sends SIGTERM. False: the process cannot be reached. An owner in a container has another process
// ID here, which may be that of any process.
bool Terminate(const host::StateOwner& owner) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, owner.pid, 0)));
  const uint64_t start = host::StartTicks(owner.pid);
  if (!process.valid() || start == 0 || start != owner.start_ticks) return false;
  return ::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0) == 0;
}

bool StillStarts(const Path& state, pid_t pid) {
  const auto owner = host::StateDirectory::Peek(state);
  return owner.ok() && *owner && (*owner)->pid == pid && (*owner)->url.empty();
}

// For an owner that does not serve, because it starts or because it is ending. An owner in its
// start ends at SIGTERM, unless it is inside a command without an InterruptGuard. That one goes on
// until it serves.
Result<bool> StopStarting(const Path& state) {
  const auto deadline = MonotonicNow() + std::chrono::milliseconds(kStopMilliseconds);
  pid_t asked = 0;
  while (MonotonicNow() < deadline) {
    ASSIGN_OR_RETURN(const auto owner, host::StateDirectory::Peek(state));
    const bool has_other = owner && asked != 0 && owner->pid != 0 && owner->pid != asked;
    if (!owner || has_other) {
      if (asked == 0 || WaitForProcess(asked, kEndMilliseconds)) return true;
      break;
    }
    if (!owner->url.empty()) return StopServing(*owner);
    if (asked == 0 && owner->pid != 0) {  // else it has not written its note yet
      if (Terminate(*owner)) {
        asked = owner->pid;
      } else if (StillStarts(state, owner->pid)) {
        return errors::StarterOutOfReach(owner->pid);
      }
    }
    ::poll(nullptr, 0, kPauseMilliseconds);
  }
  return asked == 0 ? host::errors::StateTaken(state, std::nullopt)
                    : errors::ServerDoesNotEnd(asked);
}

}  // namespace

Result<bool> StopOwner(const Path& state) {
  ASSIGN_OR_RETURN(const auto owner, host::StateDirectory::Peek(state));
  if (!owner) return false;
  return owner->url.empty() ? StopStarting(state) : StopServing(*owner);
}

bool EndOwnerIfUnused(const host::StateOwner& owner) {
  http::Client client(owner.url);
  const auto response = client.Send(
      {.method = "POST",
       .target = "/emulator/v1:shutdown?ifUnused=true&owner=" + std::to_string(owner.pid)});
  return response.ok() && response->status == 200 && WaitForProcess(owner.pid, kStopMilliseconds);
}

}  // namespace caip::app
