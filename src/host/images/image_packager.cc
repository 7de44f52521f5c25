#include "host/images/image_packager.h"

#include <atomic>
#include <utility>

#include "run/texts.h"

namespace caip::host {

using engine::Prepared;
using engine::PrepareRequest;
using engine::RunKey;

struct ImagePackager::Order {
  PrepareRequest request;
  Done done;
  std::mutex mutex;      // held while `done` is called
  bool is_over = false;  // answered or abandoned; guarded by `mutex`

  void Answer(Prepared prepared) {
    const std::lock_guard lock(mutex);
    if (!std::exchange(is_over, true)) done(std::move(prepared));
  }
  void Abandon() {
    const std::lock_guard lock(mutex);
    is_over = true;
  }
};

struct ImagePackager::Worker {
  OrderPtr order;
  std::atomic<bool> has_ended = false;
  std::jthread thread;  // last, because it uses the other members
};

ImagePackager::ImagePackager(std::unique_ptr<engine::Packager> packages,
                             std::shared_ptr<ImageSource> images, engine::LogSink& log,
                             Clock& clock)
    : packages_(std::move(packages)), images_(std::move(images)), log_(log), clock_(clock) {}

ImagePackager::~ImagePackager() {
  const std::lock_guard lock(mutex_);
  for (const auto& worker : workers_) {
    worker->order->Abandon();
    worker->thread.request_stop();
  }
  workers_.clear();  // joins the threads
}

void ImagePackager::Prepare(PrepareRequest request, Done done) {
  if (request.images.empty()) return packages_->Prepare(std::move(request), std::move(done));
  auto worker = std::make_unique<Worker>();
  worker->order = std::make_shared<Order>();
  worker->order->request = std::move(request);
  worker->order->done = std::move(done);
  const std::lock_guard lock(mutex_);
  workers_.remove_if([](const auto& earlier) { return earlier->has_ended.load(); });
  worker->thread = std::jthread([this, self = worker.get()](const std::stop_token& stop) {
    Work(self->order, stop);
    self->has_ended = true;
  });
  workers_.push_back(std::move(worker));
}

void ImagePackager::Abandon(const RunKey& run) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& worker : workers_) {
      if (worker->order->request.run != run) continue;
      worker->order->Abandon();
      worker->thread.request_stop();
    }
  }
  packages_->Abandon(run);
}

void ImagePackager::Work(const OrderPtr& order, const std::stop_token& stop) {
  Prepared prepared;
  prepared.run = order->request.run;
  prepared.attempt = order->request.attempt;
  Result<Images> images = ProvideAll(order->request, stop);
  if (!images.ok()) {
    prepared.failure = Prepared::Failure{1, "", images.error().message};
    return order->Answer(std::move(prepared));
  }
  if (order->request.python_module.empty()) {
    prepared.images = *std::move(images);
    return order->Answer(std::move(prepared));
  }
  packages_->Prepare(order->request, [order, images = *std::move(images)](Prepared installed) {
    installed.images = images;
    order->Answer(std::move(installed));
  });
}

Result<ImagePackager::Images> ImagePackager::ProvideAll(const PrepareRequest& request,
                                                        const std::stop_token& stop) {
  const ImageSource::Note note = [&](engine::Severity severity, const std::string& line) {
    log_.Write({{request.run, std::string(run::kServiceTask), severity, clock_.Now(), line}});
  };
  Images images;
  for (const auto& [uri, source] : request.images) {
    ASSIGN_OR_RETURN(engine::PreparedImage image, images_->Provide(uri, source, note, stop));
    images[uri] = std::make_shared<const engine::PreparedImage>(std::move(image));
  }
  return images;
}

}  // namespace caip::host
