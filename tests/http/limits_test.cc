#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <condition_variable>
#include <filesystem>
#include <list>
#include <mutex>
#include <thread>

#include "http/connection/activity.h"
#include "tests/http/served.h"

namespace caip::http {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using State = Activity::State;

Response Hello(const Request&) { return Text("hello"); }

size_t EntriesOf(const char* directory) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

// Handlers that stay until they are let go.
class Gate {
 public:
  Response Wait(const Request&) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    return Text("let through");
  }
  void AwaitWaiting(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ == count; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

TEST(Limits, RefuseAConnectionWhenAllOthersAreAtWork) {
  Gate gate;
  ServerOptions options;
  options.connections_max = 2;
  const Served served([&](const Request& request) { return gate.Wait(request); }, options);
  RawPeer first(served->port());
  RawPeer second(served->port());
  first.Send(LastGetRequest("/1"));
  second.Send(LastGetRequest("/2"));
  gate.AwaitWaiting(2);
  EXPECT_THAT(RawPeer(served->port()).ReadToEnd(), StartsWith("HTTP/1.1 503"));
  gate.Open();
  EXPECT_THAT(first.ReadToEnd(), HasSubstr("let through"));
  EXPECT_THAT(second.ReadToEnd(), HasSubstr("let through"));
  EXPECT_THAT(served.Ask(LastGetRequest("/3")), HasSubstr("let through"));
}

TEST(Limits, CloseTheConnectionThatIsIdleLongestForANewOne) {
  ServerOptions options;
  options.connections_max = 3;
  const Served served(Hello, options);
  RawPeer half(served->port());
  half.Send("GET / HT");
  RawPeer first(served->port());
  RawPeer second(served->port());
  for (RawPeer* used : {&first, &second}) {
    used->Send(GetRequest("/"));
    used->ReadAnswer();
    while (served->active_requests() > 0) std::this_thread::yield();  // it becomes idle
  }
  EXPECT_THAT(served.Ask(LastGetRequest("/new")), HasSubstr("hello"));
  EXPECT_EQ(first.ReadToEnd(), "") << "idle ones go first";
  second.Send(LastGetRequest("/"));
  EXPECT_THAT(second.ReadToEnd(), HasSubstr("hello"));
  half.Send("TP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(half.ReadToEnd(), HasSubstr("hello")) << "its request was on its way";
}

TEST(Limits, CloseAConnectionWithoutARequestIfNoneIsIdle) {
  ServerOptions options;
  options.connections_max = 2;
  const Served served(Hello, options);
  RawPeer first(served->port());
  RawPeer second(served->port());
  EXPECT_THAT(served.Ask(LastGetRequest("/new")), HasSubstr("hello"));
  EXPECT_THAT(first.ReadToEnd(), StartsWith("HTTP/1.1 503"));
  second.Send(LastGetRequest("/"));
  EXPECT_THAT(second.ReadToEnd(), HasSubstr("hello"));
}

TEST(Limits, AnswerManyClientsThatAreTooManyWithAnAnswerEach) {
  Gate gate;
  ServerOptions options;
  options.connections_max = 1;
  const Served served([&](const Request& request) { return gate.Wait(request); }, options);
  RawPeer busy(served->port());
  busy.Send(LastGetRequest("/"));
  gate.AwaitWaiting(1);
  std::list<RawPeer> crowd;
  for (int i = 0; i < 150; ++i) crowd.emplace_back(served->port()).Send(LastGetRequest("/"));
  for (RawPeer& peer : crowd) {
    EXPECT_THAT(peer.ReadToEnd(),
                AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("\r\nRetry-After: 1\r\n")));
  }
  gate.Open();
  EXPECT_THAT(busy.ReadToEnd(), HasSubstr("let through"));
}

// By default as many connections as the descriptors allow. One process has both ends here.
TEST(Limits, ServeTwoThousandClientsThatKeepTheirConnections) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  if (before.rlim_max < 8000) GTEST_SKIP() << "the system allows too few open descriptors";
  const rlimit raised{.rlim_cur = 8000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &raised), 0);
  const Served served(Hello);
  {
    std::list<RawPeer> clients;
    for (int i = 0; i < 2000; ++i) clients.emplace_back(served->port());
    for (int round = 0; round < 3; ++round) {
      for (RawPeer& client : clients) client.Send(GetRequest("/"));
      for (RawPeer& client : clients) {
        ASSERT_THAT(client.ReadAnswer(), HasSubstr("hello")) << "in round " << round;
      }
    }
  }
  served->Stop(10'000);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

// Half of the descriptors remain for the rest of the process.
TEST(Limits, FitTheLimitOfOpenDescriptors) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit small{.rlim_cur = EntriesOf("/proc/self/fd") + 64, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &small), 0);
  Gate gate;
  const Served served([&](const Request& request) { return gate.Wait(request); });
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);  // for the clients
  std::list<RawPeer> clients;
  const int most = static_cast<int>(small.rlim_cur / 2 * 4 / 9);
  for (int i = 1; i <= 60; ++i) {
    clients.emplace_back(served->port()).Send(LastGetRequest("/"));
    if (i <= most) gate.AwaitWaiting(i);  // the server could close one whose request is on its way
  }
  EXPECT_THAT(clients.back().ReadToEnd(), StartsWith("HTTP/1.1 503"));
  gate.Open();
  EXPECT_THAT(clients.front().ReadToEnd(), HasSubstr("let through"));
}

TEST(Limits, AnswerWithoutAFreeDescriptor) {
  Gate gate;
  const Served served([&](const Request& request) { return gate.Wait(request); });
  RawPeer busy(served->port());
  busy.Send(LastGetRequest("/"));
  gate.AwaitWaiting(1);
  const Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit small{.rlim_cur = 64, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &small), 0);
  std::vector<Fd> all;
  while (all.empty() || all.back().valid()) all.emplace_back(::dup(STDERR_FILENO));
  const sockaddr_in to{.sin_family = AF_INET,
                       .sin_port = htons(served->port()),
                       .sin_addr = {htonl(INADDR_LOOPBACK)},
                       .sin_zero = {}};
  EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  const std::string request = LastGetRequest("/");
  EXPECT_EQ(::send(client.get(), request.data(), request.size(), 0),
            static_cast<ssize_t>(request.size()));
  std::string answer(12, '\0');
  EXPECT_EQ(::recv(client.get(), answer.data(), answer.size(), MSG_WAITALL), 12);
  EXPECT_EQ(answer, "HTTP/1.1 503");
  all.clear();
  ::setrlimit(RLIMIT_NOFILE, &before);
  gate.Open();
  EXPECT_THAT(busy.ReadToEnd(), HasSubstr("let through"));
}

// While the server parses what each of its connections has just sent, none can make room: then a
// new one is asked to come again.
std::string AskAgainWhileRefused(const Served& served) {
  std::string answer;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  do {
    answer = served.Ask(LastGetRequest("/"));
  } while (answer.starts_with("HTTP/1.1 503") && std::chrono::steady_clock::now() < deadline);
  return answer;
}

TEST(Limits, HoldAgainstThousandsOfHalfOpenConnections) {
  ServerOptions options;
  options.connections_max = 50;
  const Served served(Hello, options);
  served.Ask(LastGetRequest("/first"));
  const size_t descriptors = EntriesOf("/proc/self/fd");
  {
    std::list<RawPeer> crowd;
    for (int i = 0; i < 3000; ++i) {
      if (crowd.size() == 300) crowd.pop_front();  // its other end is closed long since
      crowd.emplace_back(served->port()).Send("POST / HTTP/1.1\r\nHost: loc");
      if (i % 500 == 499) {
        EXPECT_THAT(AskAgainWhileRefused(served), HasSubstr("hello")) << "after " << i;
      }
    }
    EXPECT_LE(EntriesOf("/proc/self/task"), 50u + 64u + 30u);
  }
  EXPECT_THAT(served.Ask(LastGetRequest("/last")), HasSubstr("hello"));
  served->Stop(10'000);
  EXPECT_LE(EntriesOf("/proc/self/fd"), descriptors);
}

TEST(Limits, EndAHeaderThatComesInDrops) {
  ServerOptions options;
  options.head_seconds = 1;
  const Served served(Hello, options);
  RawPeer peer(served->port());
  peer.Send("GET / HTTP/1.1\r\n");
  for (int i = 0; i < 1'000'000 && peer.Send("X: y\r\n"); ++i) {
    if (i == 100) {  // the rest waits, as one who hopes to be waited for
      EXPECT_THAT(peer.ReadToEnd(), StartsWith("HTTP/1.1 408"));
      return;
    }
  }
  FAIL() << "the server let the header go on";
}

TEST(Limits, LetAConnectionBeIdleForLongerThanAHeaderMayTake) {
  ServerOptions options;
  options.idle_seconds = 60;
  options.head_seconds = 1;
  const Served served(Hello, options);
  RawPeer peer(served->port());
  peer.Send(GetRequest("/"));
  peer.ReadAnswer();
  RawPeer clock(served->port());  // ends once a whole header is late: more than a second from now
  clock.Send("GET");
  EXPECT_THAT(clock.ReadToEnd(), StartsWith("HTTP/1.1 408"));
  peer.Send(LastGetRequest("/"));
  EXPECT_THAT(peer.ReadToEnd(), HasSubstr("hello"));
}

using std::chrono::seconds;

TEST(Idleness, IsNoneAtWork) {
  Activity activity;
  const auto later = std::chrono::steady_clock::now() + seconds(3600);
  for (const State state : {State::kWorking, State::kRelaying}) {
    activity.Enter(state);
    EXPECT_FALSE(activity.IdlenessAt(later)) << static_cast<int>(state);
  }
}

TEST(Idleness, OfOneThatHasNotAskedYetCountsForLess) {
  const Activity fresh;
  Activity idle;
  idle.Enter(State::kIdle);
  const auto now = std::chrono::steady_clock::now();
  EXPECT_LT(fresh.IdlenessAt(now + seconds(60)), idle.IdlenessAt(now + seconds(1)));
  EXPECT_LT(fresh.IdlenessAt(now + seconds(1)), fresh.IdlenessAt(now + seconds(2)));
}

TEST(Idleness, EndsWithBytesThatNobodyHasLookedAtYet) {
  Activity activity;
  EXPECT_FALSE(activity.HasMoreCome(100)) << "the count is not known before it waits";
  activity.AwaitMore(false, 100);
  EXPECT_FALSE(activity.HasMoreCome(100));
  EXPECT_TRUE(activity.HasMoreCome(101));
  activity.AwaitMore(false, std::nullopt);  // TLS
  EXPECT_FALSE(activity.HasMoreCome(101));
}

// The server looks at all connections before it closes one. Meanwhile an upload may begin.
TEST(Idleness, IsLookedAtAgainBeforeTheConnectionIsClosed) {
  const auto now = std::chrono::steady_clock::now();
  Activity activity;
  ASSERT_TRUE(activity.IdlenessAt(now));
  ASSERT_TRUE(activity.BeginRequest());
  activity.Enter(State::kReading);
  EXPECT_FALSE(activity.Evict(now));
  EXPECT_TRUE(activity.Evict(now + seconds(3600))) << "its body arrives very slowly";
}

TEST(Idleness, OfABodyIsNotSeenInBytesOfItsHeader) {
  Activity activity;
  activity.AwaitMore(false, 0);
  ASSERT_TRUE(activity.BeginRequest());
  activity.Enter(State::kReading);
  EXPECT_FALSE(activity.HasMoreCome(5000));
}

TEST(Idleness, IsSeenFromBytesThatWereTakenFromTheSocket) {
  const auto listener = ListenOn("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  auto client = ConnectTo("127.0.0.1", std::to_string(LocalPort(listener->get())), seconds(5));
  ASSERT_TRUE(client.ok()) << client.error().message;
  Socket server(Fd(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC)));
  EXPECT_EQ(BytesThatCame(server.get()), 0);
  ASSERT_EQ(client->Send("GET /"), Flow::kData);
  char taken[3];
  ASSERT_EQ(server.Receive(taken, sizeof taken).count, sizeof taken);
  EXPECT_EQ(server.taken(), 3);
  EXPECT_EQ(BytesThatCame(server.get()), 5);
  client->ShutdownWrites();
  EXPECT_EQ(BytesThatCame(server.get()), 5) << "the end is not a byte";
}

TEST(Idleness, OfABodyThatComesInDropsIsSeen) {
  Activity slow;
  slow.Enter(State::kReading);
  slow.CountBodyBytes(1000);
  Activity fast;
  fast.Enter(State::kReading);
  fast.CountBodyBytes(1'000'000);
  const auto now = std::chrono::steady_clock::now();
  EXPECT_FALSE(slow.IdlenessAt(now + seconds(5))) << "too early to tell";
  EXPECT_TRUE(slow.IdlenessAt(now + seconds(30)));
  EXPECT_FALSE(fast.IdlenessAt(now + seconds(30)));
}

}  // namespace
}  // namespace caip::http
