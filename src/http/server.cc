#include "http/server.h"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "http/connection.h"
#include "http/errors.h"
#include "http/response_writer.h"
#include "http/socket.h"

namespace caip::http {
namespace {

constexpr auto kRefusalLimit = std::chrono::milliseconds(200);
constexpr auto kNoDescriptorsPause = std::chrono::milliseconds(100);

// A connection and its thread. Its socket is closed only under the server's lock, so that Stop()
// never shuts a descriptor that means something else by now.
struct Peer {
  Socket socket;
  std::atomic<bool> busy{false};
  std::thread thread;
};

class BlockingServer final : public Server {
 public:
  BlockingServer(ServerOptions options, Handler handler, Fd listener)
      : listener_(std::move(listener)) {
    context_.options = std::move(options);
    context_.handler = std::move(handler);
    context_.port = LocalPort(listener_.get());
    acceptor_ = std::thread([this] { Accept(); });
  }
  ~BlockingServer() override { Stop(0); }

  uint16_t port() const override { return context_.port; }
  int active_requests() const override { return context_.active_requests; }
  uint64_t total_requests() const override { return context_.total_requests; }

  void Stop(int grace_ms) override {
    const std::lock_guard stopping(stop_mutex_);
    if (!acceptor_.joinable()) return;
    context_.stopping = true;
    ShutdownSocket(listener_.get());
    changed_.notify_all();
    acceptor_.join();
    listener_.Close();
    std::unique_lock lock(mutex_);
    for (Peer& peer : peers_) {
      if (!peer.busy) ::shutdown(peer.socket.get(), SHUT_RD);  // an idle one wakes up and ends
    }
    changed_.wait_for(lock, std::chrono::milliseconds(grace_ms), [&] { return peers_.empty(); });
    for (Peer& peer : peers_) ShutdownSocket(peer.socket.get());
    changed_.wait(lock, [&] { return peers_.empty(); });
    Join(lock);
  }

 private:
  void Accept() {
    while (!context_.stopping) {
      Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      const int error = errno;
      std::unique_lock lock(mutex_);
      Join(lock);
      if (!fd.valid()) {
        const bool exhausted =
            error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
        if (exhausted) changed_.wait_for(lock, kNoDescriptorsPause);
        continue;
      }
      if (context_.stopping) return;
      if (static_cast<int>(peers_.size()) >= context_.options.connections_max) {
        lock.unlock();
        Refuse(Socket(std::move(fd)));
        continue;
      }
      StartPeer(std::move(fd));
    }
  }

  void StartPeer(Fd fd) {
    peers_.emplace_back();
    const auto peer = std::prev(peers_.end());
    peer->socket = Socket(std::move(fd));
    try {
      peer->thread = std::thread([this, peer] {
        ServeConnection(peer->socket, context_, peer->busy);
        Retire(peer);
      });
    } catch (const std::system_error&) {  // no thread to be had: as if the limit were reached
      Refuse(std::move(peer->socket));
      peers_.erase(peer);
    }
  }

  void Refuse(Socket socket) {
    socket.SetSilenceLimit(kRefusalLimit);
    WriteResponse(socket,
                  errors::Refusal(503, "Too many connections: the limit is " +
                                           std::to_string(context_.options.connections_max) + "."),
                  {.keep_alive = false});
    socket.ShutdownWrites();
  }

  void Retire(std::list<Peer>::iterator peer) {
    const std::lock_guard lock(mutex_);
    peer->socket.Close();
    ended_.splice(ended_.end(), peers_, peer);
    changed_.notify_all();
  }

  // A thread cannot join itself: whoever holds the lock next joins those that have ended.
  void Join(std::unique_lock<std::mutex>& lock) {
    std::list<Peer> ended;
    ended.swap(ended_);
    lock.unlock();
    for (Peer& peer : ended) peer.thread.join();
    ended.clear();
    lock.lock();
  }

  ConnectionContext context_;
  Fd listener_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Peer> peers_;
  std::list<Peer> ended_;
  std::mutex stop_mutex_;
  std::thread acceptor_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, Handler handler) {
  ASSIGN_OR_RETURN(Fd listener, ListenOn(options.address, options.port));
  return std::unique_ptr<Server>(std::make_unique<BlockingServer>(
      std::move(options), std::move(handler), std::move(listener)));
}

}  // namespace caip::http
