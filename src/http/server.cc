#include "http/server.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/descriptor_limit.h"
#include "base/errors.h"
#include "http/connection/connection.h"
#include "http/connection/guard.h"
#include "http/connection/response_writer.h"
#include "http/errors.h"
#include "http/transport/endpoint.h"
#include "http/transport/socket.h"

namespace caip::http {
namespace {

constexpr int kConnectionsMax = 4096;  // each has a thread
constexpr uint64_t kDescriptorsOfTheRest = 128;
// Of four connections: their sockets, a file or a second socket of each, and the file of a request
// over HTTP/2.
constexpr uint64_t kDescriptorsPerFour = 9;
constexpr size_t kRefusalsAtOnce = 64;
constexpr auto kRefusalLimit = std::chrono::milliseconds(200);
constexpr auto kPause = std::chrono::milliseconds(100);
constexpr auto kEvictionLimit = std::chrono::milliseconds(1000);
constexpr int kAcceptAtOnce = 64;
constexpr size_t kManyPeers = 32;  // enough to return their memory to the system

// A connection and its thread. Its socket is closed only under the server's lock, so that Stop()
// never shuts down a descriptor that has been reused.
struct Peer {
  Socket socket;
  Origin origin;
  Activity activity;
  bool refused = false;  // gets 503, or is closed for another one
  std::thread thread;
};

int ConnectionsFor(uint64_t descriptors) {
  const uint64_t rest = std::min(kDescriptorsOfTheRest, descriptors / 2);
  return static_cast<int>(
      std::clamp<uint64_t>((descriptors - rest) * 4 / kDescriptorsPerFour, 1, kConnectionsMax));
}

int Http2RequestsFor(uint64_t descriptors) { return std::max(ConnectionsFor(descriptors) / 4, 1); }

// A listening socket. Shared, because the acceptor may wait on one that is being closed.
struct Listener {
  Fd fd;
  std::string tag;
  bool isolated = false;  // see Origin
};

class BlockingServer final : public Server {
 public:
  BlockingServer(ServerOptions options, Handler handler, Fd listener,
                 std::unique_ptr<TlsServerContext> tls, Fd woken, Fd stop_event)
      : woken_(std::move(woken)) {
    context_.options = std::move(options);
    if (context_.options.connections_max <= 0) {
      context_.options.connections_max = ConnectionsFor(DescriptorLimit());
    }
    if (context_.options.http2_requests_max <= 0) {
      context_.options.http2_requests_max = Http2RequestsFor(DescriptorLimit());
    }
    context_.handler = std::move(handler);
    context_.tls = std::move(tls);
    context_.stop_event = std::move(stop_event);
    context_.port = LocalPort(listener.get());
    AddListener(std::move(listener), "");
    acceptor_ = std::thread([this] { AcceptAll(); });
  }
  ~BlockingServer() override { Stop(0); }

  uint16_t port() const override { return context_.port; }
  int active_requests() const override { return context_.active_requests; }
  uint64_t total_requests() const override { return context_.total_requests; }

  Result<uint16_t> Listen(const std::string& address, const std::string& tag) override {
    ASSIGN_OR_RETURN(Fd fd, ListenOn(address, 0));
    const uint16_t port = LocalPort(fd.get());
    const std::lock_guard lock(mutex_);
    if (FindListener(tag) != listeners_.end()) return errors::ListenerExists(tag);
    AddListener(std::move(fd), tag);
    Wake();
    return port;
  }

  void Adopt(Fd listening, const std::string& tag) override {
    const std::lock_guard lock(mutex_);
    AddListener(std::move(listening), tag, true);
    Wake();
  }

  void Unlisten(const std::string& tag) override {
    const std::lock_guard lock(mutex_);
    if (tag.empty()) return;
    const auto closed = std::erase_if(listeners_, [&](const auto& listener) {
      if (listener->tag != tag) return false;
      ShutdownSocket(listener->fd.get());  // refuses connections while the acceptor still holds it
      return true;
    });
    if (closed == 0) return;
    for (Peer& peer : peers_) {
      if (peer.origin.listener == tag) ShutdownSocket(peer.socket.get());
    }
    Wake();
  }

  void Stop(int grace_ms) override {
    const std::lock_guard stopping(stop_mutex_);
    if (!acceptor_.joinable()) return;
    context_.stopping = true;
    Signal(context_.stop_event);
    Wake();
    changed_.notify_all();
    acceptor_.join();
    std::unique_lock lock(mutex_);
    listeners_.clear();
    for (Peer& peer : peers_) {
      if (!peer.activity.busy()) ::shutdown(peer.socket.get(), SHUT_RD);  // wakes its thread
    }
    changed_.wait_for(lock, std::chrono::milliseconds(grace_ms), [&] { return peers_.empty(); });
    for (Peer& peer : peers_) ShutdownSocket(peer.socket.get());
    changed_.wait(lock, [&] { return peers_.empty(); });
    Join(lock);
  }

 private:
  using Listeners = std::vector<std::shared_ptr<const Listener>>;

  Listeners::iterator FindListener(const std::string& tag) {
    return std::find_if(listeners_.begin(), listeners_.end(),
                        [&](const auto& listener) { return listener->tag == tag; });
  }

  void AddListener(Fd fd, const std::string& tag, bool isolated = false) {
    ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
    listeners_.push_back(std::make_shared<const Listener>(Listener{std::move(fd), tag, isolated}));
  }

  // Makes the acceptor read the list of listeners again.
  void Wake() { Signal(woken_); }
  static void Signal(const Fd& event) {
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(event.get(), &one, sizeof one);
  }

  void AcceptAll() {
    while (!context_.stopping) {
      Listeners open;
      {
        const std::lock_guard lock(mutex_);
        open = listeners_;
      }
      std::vector<pollfd> waits = {{woken_.get(), POLLIN, 0}};
      for (const auto& listener : open) waits.push_back({listener->fd.get(), POLLIN, 0});
      ::poll(waits.data(), waits.size(), -1);
      uint64_t ignored;
      if (waits[0].revents != 0) {
        [[maybe_unused]] const auto read = ::read(woken_.get(), &ignored, sizeof ignored);
        ReleaseMemory();
      }
      for (size_t i = 0; i < open.size(); ++i) {
        if (waits[i + 1].revents == 0) continue;
        for (int count = 0; count < kAcceptAtOnce && AcceptFrom(*open[i]); ++count) {
        }
      }
    }
  }

  // Joins ended threads, and returns memory to the system after many connections have ended.
  void ReleaseMemory() {
    std::unique_lock lock(mutex_);
    Join(lock);
    peers_peak_ = std::max(peers_peak_, peers_.size());
    if (peers_peak_ < kManyPeers || peers_.size() > peers_peak_ / 4) return;
    peers_peak_ = peers_.size();
    lock.unlock();
    ::malloc_trim(0);
  }

  // Accepts one connection. False if none is waiting.
  bool AcceptFrom(const Listener& listener) {
    Fd fd(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const int error = errno;
    std::unique_lock lock(mutex_);
    Join(lock);
    if (!fd.valid()) {
      const bool exhausted =
          error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
      if (!exhausted || !IsConnectionWaiting(listener)) return false;
      const size_t before = peers_.size();
      if (EvictIdlest(lock)) {
        changed_.wait_for(lock, kEvictionLimit, [&] { return peers_.size() < before; });
      } else {
        RefuseWithSpare(listener);
      }
      return false;
    }
    if (context_.stopping || FindListener(listener.tag) == listeners_.end()) return false;
    const bool refused = IsFull() && !EvictIdlest(lock);
    if (refused) AwaitRefusals(lock);
    StartPeer(std::move(fd), listener, refused);
    return true;
  }

  // accept() without a free descriptor fails before it looks for a connection.
  static bool IsConnectionWaiting(const Listener& listener) {
    pollfd wait{listener.fd.get(), POLLIN, 0};
    return ::poll(&wait, 1, 0) > 0;
  }

  bool IsFull() const {
    return peers_.size() - refusals_ >= static_cast<size_t>(context_.options.connections_max);
  }

  // Closes the connection with the greatest Activity::Idleness, unless its next request has already
  // come. Its thread answers 503 where a client waits for an answer. False if all are busy.
  bool EvictIdlest(std::unique_lock<std::mutex>& lock) {
    while (Peer* const idlest = FindIdlest()) {
      const bool is_reading = idlest->activity.state() == Activity::State::kReading;
      if (!idlest->activity.Evict(MonotonicNow())) continue;  // it has become busy
      idlest->refused = true;
      ++refusals_;
      if (is_reading) {
        ShutdownSocket(idlest->socket.get());
      } else {
        ::shutdown(idlest->socket.get(), SHUT_RD);
      }
      AwaitRefusals(lock);
      return true;
    }
    return false;
  }

  // True if bytes of its next request have come, whether its thread has taken them or not.
  static bool HasMoreCome(const Peer& peer) {
    if (peer.activity.is_refusing()) return false;
    int unread = 0;
    if (::ioctl(peer.socket.get(), FIONREAD, &unread) == 0 && unread > 0) return true;
    return peer.activity.HasMoreCome(BytesThatCame(peer.socket.get()).value_or(0));
  }

  Peer* FindIdlest() {
    const auto now = MonotonicNow();
    Peer* idlest = nullptr;
    std::optional<Activity::Idleness> most;
    for (Peer& peer : peers_) {
      const auto idleness = peer.activity.IdlenessAt(now);
      if (!idleness || *idleness <= most.value_or(Activity::Idleness{})) continue;
      if (peer.refused || HasMoreCome(peer)) continue;
      most = idleness;
      idlest = &peer;
    }
    return idlest;
  }

  // Beyond some refused clients, the others wait in the kernel's queue.
  void AwaitRefusals(std::unique_lock<std::mutex>& lock) {
    changed_.wait_for(lock, kPause, [&] { return refusals_ < kRefusalsAtOnce; });
  }

  void StartPeer(Fd fd, const Listener& listener, bool refused) {
    peers_.emplace_back();
    const auto peer = std::prev(peers_.end());
    peer->origin = {PeerAddress(fd.get()), listener.tag, listener.isolated};
    peer->socket = Socket(std::move(fd));
    peer->refused = refused;
    if (refused) ++refusals_;
    try {
      peer->thread = std::thread([this, peer, refused] {
        if (refused) {
          RefuseConnection(peer->socket, TooMany(), context_.stopping);
        } else {
          ServeConnection(peer->socket, peer->origin, context_, peer->activity);
        }
        Retire(peer);
      });
    } catch (const std::system_error&) {  // no thread is available
      RefuseAtOnce(std::move(peer->socket));
      if (refused) --refusals_;
      peers_.erase(peer);
    }
  }

  Response TooMany() const { return errors::TooManyConnections(context_.options.connections_max); }

  // On the acceptor's thread, which must not wait long for the client.
  void RefuseAtOnce(Socket socket) {
    socket.SetDeadline(MonotonicNow() + kRefusalLimit);
    WriteResponse(socket, TooMany(), {.keep_alive = false});
    socket.ShutdownWrites();
    char unread[4096];
    while (socket.Receive(unread, sizeof unread).flow == Flow::kData) {
    }
  }

  // Answers a client although no descriptor is free.
  void RefuseWithSpare(const Listener& listener) {
    spare_.Close();
    Fd fd(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (fd.valid()) RefuseAtOnce(Socket(std::move(fd)));
    spare_ = OpenSpare();
  }

  static Fd OpenSpare() { return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

  void Retire(std::list<Peer>::iterator peer) {
    const std::lock_guard lock(mutex_);
    peer->socket.Close();
    if (peer->refused) --refusals_;
    peers_peak_ = std::max(peers_peak_, peers_.size());
    ended_.splice(ended_.end(), peers_, peer);
    changed_.notify_all();
    if (peers_.empty() || ended_.size() >= kManyPeers) Wake();
  }

  // A thread cannot join itself, so the next thread that holds the lock joins those that ended.
  void Join(std::unique_lock<std::mutex>& lock) {
    std::list<Peer> ended;
    ended.swap(ended_);
    lock.unlock();
    for (Peer& peer : ended) peer.thread.join();
    ended.clear();
    lock.lock();
  }

  ConnectionContext context_;
  Fd woken_;  // an eventfd
  std::mutex mutex_;
  std::condition_variable changed_;
  Listeners listeners_;
  std::list<Peer> peers_;
  std::list<Peer> ended_;
  size_t refusals_ = 0;  // of peers_
  Fd spare_ = OpenSpare();
  size_t peers_peak_ = 0;  // since memory was last returned
  std::mutex stop_mutex_;
  std::thread acceptor_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, Handler handler) {
  ASSIGN_OR_RETURN(Fd listener, ListenOn(options.address, options.port));
  Fd woken(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  Fd stop_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!woken.valid() || !stop_event.valid()) {  // nothing would end the server
    return SystemError("cannot make an event", errno);
  }
  std::unique_ptr<TlsServerContext> tls;
  if (options.tls) {
    const auto served = [options](const std::string& name) {
      return IsHostAllowed(name, options.address, options.allowed_hosts) ||
             MatchesAnyName(name, options.served_names);
    };
    tls = std::make_unique<TlsServerContext>(options.tls, served);
  }
  return std::unique_ptr<Server>(
      std::make_unique<BlockingServer>(std::move(options), std::move(handler), std::move(listener),
                                       std::move(tls), std::move(woken), std::move(stop_event)));
}

}  // namespace caip::http
