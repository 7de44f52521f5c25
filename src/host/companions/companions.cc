#include "host/companions/companions.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/text.h"
#include "host/errors.h"
#include "host/process/launcher_link.h"
#include "host/process/orphans.h"
#include "http/client.h"

namespace caip::host {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenLooks{50};
constexpr int kHealthSilenceSeconds = 5;
constexpr size_t kLogEndBytesMax = 300;

sockaddr_in SocketAddress(const std::string& ip, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, ip.c_str(), &address.sin_addr);
  return address;
}

Result<uint16_t> FreePort(const std::string& ip) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = SocketAddress(ip, 0);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (!socket.valid() || ::bind(socket.get(), generic, size) != 0 ||
      ::getsockname(socket.get(), generic, &size) != 0) {
    return errors::CannotFindPort(errno);
  }
  return ntohs(address.sin_port);
}

bool Accepts(const CompanionStart& start) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = SocketAddress(start.address, start.port);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

bool Answers(const CompanionStart& start) {
  http::Client client("http://" + start.address + ":" + std::to_string(start.port));
  client.set_silence_seconds(kHealthSilenceSeconds);
  const auto answer = client.Send({.target = "/"});
  return answer.ok() && answer->status < 500;
}

// The end of a companion's log, on one line.
std::string EndOfLog(const Path& log) {
  const auto text = ReadFileUpTo(log, 1 << 20);
  const std::string_view all = text.ok() ? Trim(*text) : std::string_view();
  const std::string last(all.substr(all.size() - std::min(all.size(), kLogEndBytesMax)));
  return ReplaceAll(last, "\n", " | ");
}

}  // namespace

class Companions::Body {
 public:
  explicit Body(CompanionOptions options)
      : options_(std::move(options)), state_id_(StateId(options_.state)) {
    for (const std::string& name : options_.names) {
      const CompanionKind* kind = CompanionNamed(name);
      assert(kind);
      members_.emplace_back().kind = kind;
    }
    worker_ = std::thread([this] { Work(); });
  }

  ~Body() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    worker_.join();
    link_.reset();  // returns when all companions are dead
  }

  void WhenReady(std::function<void(const CompanionsServed&)> ready) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(ready));
    }
    changed_.notify_all();
  }

 private:
  struct Member {
    const CompanionKind* kind = nullptr;
    CompanionStart start;
    uint64_t number = 0;  // of its process at the launcher; 0: never started
    bool alive = false;   // guarded by mutex_
    std::string failure;  // the reason why it does not serve
  };

  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      const auto ready = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      const CompanionsServed served = Serve();
      lock.lock();
      if (stopping_) return;
      lock.unlock();
      ready(served);
      lock.lock();
    }
  }

  // Starts all companions before it waits for one.
  CompanionsServed Serve() {
    std::vector<Member*> started;
    for (Member& member : members_) {
      if (IsAlive(member)) continue;
      member.failure.clear();
      if (const Status begun = Begin(member); !begun.ok()) {
        member.failure = begun.error().message;
      } else {
        started.push_back(&member);
      }
    }
    for (Member* member : started) AwaitHealth(*member);
    CompanionsServed served;
    for (const Member& member : members_) {
      if (!member.failure.empty()) {
        served.warnings.push_back(member.failure);
        continue;
      }
      CompanionStart seen = member.start;
      seen.address = options_.address_for_replicas;
      for (auto& variable : member.kind->variables(seen)) {
        served.environment.push_back(std::move(variable));
      }
    }
    return served;
  }

  bool IsAlive(const Member& member) {
    const std::lock_guard lock(mutex_);
    return member.alive;
  }

  Path LogOf(const Member& member) const {
    return options_.state / "companions" / (std::string(member.kind->name) + ".log");
  }

  Status Begin(Member& member) {
    const std::string name(member.kind->name);
    CompanionStart& start = member.start;
    start.program = FindCompanion(name, options_.search);
    if (start.program.empty()) return errors::CompanionMissing(name);
    start.data = options_.state / "companions" / name;
    start.project = options_.project;
    RETURN_IF_ERROR(MakeDirectories(start.data));
    start.address = options_.address;
    if (start.port == 0) {
      ASSIGN_OR_RETURN(start.port, FreePort(start.address));
    }
    RETURN_IF_ERROR(EnsureLink());
    const Fd log(::open(LogOf(member).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!log.valid()) return CannotWrite(LogOf(member), errno);
    LauncherLink::Replica process;
    process.directory = start.data.string();
    process.argv = member.kind->command(start);
    process.environment = EnvironmentOf(start, name);
    process.out = log.get();
    process.err = log.get();
    {
      const std::lock_guard lock(mutex_);
      process.number = member.number = ++last_number_;
      member.alive = true;
    }
    return link_->Launch(process);
  }

  // The marker lets the next emulator on this state directory find processes that outlived the
  // launcher.
  std::vector<std::string> EnvironmentOf(const CompanionStart& start, const std::string& name) {
    std::vector<std::string> environment;
    for (const auto& [variable, value] : options_.environment) {
      if (variable != "HOME") environment.push_back(variable + "=" + value);
    }
    environment.push_back("HOME=" + start.data.string());
    environment.push_back(std::string(kReplicaVariable) + "=" + state_id_ + "/companions/" + name +
                          "/" + name + "/1");
    return environment;
  }

  Status EnsureLink() {
    if (link_ && link_->IsAlive()) return Ok{};
    link_.reset();
    LauncherLink::Listener listener;
    listener.report = [this](const launcher::Report& report) { OnReport(report); };
    listener.gone = [this] { OnLauncherGone(); };
    const Path program = options_.program.empty() ? OwnLauncher() : options_.program;
    ASSIGN_OR_RETURN(link_, LauncherLink::Start(program, std::move(listener)));
    return Ok{};
  }

  void OnReport(const launcher::Report& report) {
    if (report.kind == launcher::Report::kStarted) return;
    const std::lock_guard lock(mutex_);
    for (Member& member : members_) {
      if (member.number == report.replica) member.alive = false;
    }
    changed_.notify_all();
  }

  void OnLauncherGone() {
    const std::lock_guard lock(mutex_);
    for (Member& member : members_) member.alive = false;
    changed_.notify_all();
  }

  void AwaitHealth(Member& member) {
    const std::string name(member.kind->name);
    const auto deadline = MonotonicNow() + options_.patience;
    while (true) {
      if (Accepts(member.start) && (!member.kind->speaks_http || Answers(member.start))) {
        if (IsAlive(member)) return;
      }
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kBetweenLooks, [&] { return stopping_ || !member.alive; });
      if (stopping_) return;
      if (!member.alive) {
        lock.unlock();
        member.start.port = 0;  // another process may use it
        member.failure = errors::CompanionEnded(name, LogOf(member), EndOfLog(LogOf(member)));
        return;
      }
      if (MonotonicNow() < deadline) continue;
      lock.unlock();
      member.failure = errors::CompanionSilent(name, LogOf(member), options_.patience);
      link_->Kill(member.number);
      return;
    }
  }

  CompanionOptions options_;
  std::string state_id_;
  std::vector<Member> members_;
  std::unique_ptr<LauncherLink> link_;  // used by the worker thread
  uint64_t last_number_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void(const CompanionsServed&)>> waiting_;
  bool stopping_ = false;
  std::thread worker_;
};

Companions::Companions(CompanionOptions options)
    : body_(std::make_unique<Body>(std::move(options))) {}
Companions::~Companions() = default;

void Companions::WhenReady(std::function<void(const CompanionsServed&)> ready) {
  body_->WhenReady(std::move(ready));
}

}  // namespace caip::host
