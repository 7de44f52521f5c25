#pragma once
// Prepares the container images of runs, beside another packager for their Python packages.

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/result.h"
#include "engine/ports.h"

namespace caip::host {

/// A source of images that run on machines of this host. Any thread, several at once.
class ImageSource {
 public:
  /// Reports a line for the log of the job.
  using Note = std::function<void(engine::Severity, const std::string&)>;
  virtual ~ImageSource() = default;
  /// Finds the image of that name and unpacks it, which may take minutes. The error says what to
  /// do. After `stop` is requested, the result does not matter.
  /// `source` is what the launcher answered for the image, "" if it was nothing.
  virtual Result<engine::PreparedImage> Provide(const std::string& uri, const std::string& source,
                                                const Note& note, const std::stop_token& stop) = 0;
};

/// Each request with images has a thread of its own. The other requests go straight to `packages`.
class ImagePackager final : public engine::Packager {
 public:
  /// The references must outlive it.
  ImagePackager(std::unique_ptr<engine::Packager> packages, std::shared_ptr<ImageSource> images,
                engine::LogSink& log, Clock& clock);
  /// Stops what is being prepared; pending callbacks are never called.
  ~ImagePackager() override;

  using Done = std::function<void(engine::Prepared)>;
  /// Calls `done` on any thread. `done` must not call the packager.
  void Prepare(engine::PrepareRequest request, Done done) override;
  void Abandon(const engine::RunKey& run) override;

 private:
  struct Order;
  using OrderPtr = std::shared_ptr<Order>;
  struct Worker;
  using Images = std::map<std::string, std::shared_ptr<const engine::PreparedImage>>;

  void Work(const OrderPtr& order, const std::stop_token& stop);
  Result<Images> ProvideAll(const engine::PrepareRequest& request, const std::stop_token& stop);

  const std::unique_ptr<engine::Packager> packages_;
  const std::shared_ptr<ImageSource> images_;
  engine::LogSink& log_;
  Clock& clock_;

  std::mutex mutex_;
  std::list<std::unique_ptr<Worker>> workers_;  // guarded by mutex_
};

}  // namespace caip::host
