
#include "fakes/gcs/faults/faulty_calls.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/abandoned_work.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/wire/request_headers.h"

namespace caip::gcs {
namespace {

constexpr uint64_t kFewBytes = 10;  // sent by a broken stream if the instruction has no number
constexpr uint64_t kNumberMax = uint64_t{1} << 40;

// Reads an instruction from left to right.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}
  bool Take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool Take(uint64_t* number) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), *number);
    if (error != std::errc() || *number > kNumberMax) return false;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }
  bool AtEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<Fault> ParseBrokenStream(Words words) {
  uint64_t number = 0;
  if (words.AtEnd()) return Fault{.kind = Fault::Kind::kBreakAfterBytes, .bytes = kFewBytes};
  if (words.Take("-final-chunk-after-")) {
    if (!words.Take(&number) || !words.Take("B") || !words.AtEnd()) return std::nullopt;
    return Fault{.kind = Fault::Kind::kBreakFinalAnswer, .bytes = number};
  }
  if (!words.Take("-after-") || !words.Take(&number) || !words.Take("K") || !words.AtEnd()) {
    return std::nullopt;
  }
  return Fault{.kind = Fault::Kind::kBreakAfterBytes, .bytes = number << 10};
}

std::optional<Fault> ParseStall(Words words) {
  uint64_t seconds = 0;
  uint64_t kibibytes = 0;
  if (!words.Take(&seconds) || !words.Take("s-after-") || !words.Take(&kibibytes) ||
      !words.Take("K") || !words.AtEnd() || seconds > 24 * 3600) {
    return std::nullopt;
  }
  return Fault{.kind = Fault::Kind::kStall,
               .bytes = kibibytes << 10,
               .pause = std::chrono::seconds(seconds)};
}

}  // namespace

std::optional<Fault> ParseFault(std::string_view instruction) {
  Words words(instruction);
  if (words.Take("stall-for-")) return ParseStall(words);
  if (!words.Take("return-")) return std::nullopt;
  if (words.Take("reset-connection")) {
    if (!words.AtEnd()) return std::nullopt;
    return Fault{.kind = Fault::Kind::kReset};
  }
  if (words.Take("broken-stream")) return ParseBrokenStream(words);
  uint64_t status = 0;
  if (!words.Take(&status) || status < 400 || status > 599) return std::nullopt;
  Fault fault{.kind = Fault::Kind::kStatus, .status = static_cast<int>(status)};
  if (words.AtEnd()) return fault;
  uint64_t kibibytes = 0;
  if (!words.Take("-after-") || !words.Take(&kibibytes) || !words.Take("K") || !words.AtEnd()) {
    return std::nullopt;
  }
  fault.kind = Fault::Kind::kStatusAfterBytes;
  fault.bytes = kibibytes << 10;
  return fault;
}

std::string FaultForms() {
  return "return-X, return-X-after-YK, return-reset-connection, return-broken-stream, "
         "return-broken-stream-after-YK, return-broken-stream-final-chunk-after-YB and "
         "stall-for-Ts-after-YK (X from 400 to 599)";
}

namespace {

using http::PathParameters;
using http::Request;
using http::Response;

constexpr uint64_t kFaultPieceBytes = 64 << 10;

Error InjectedBy(const Fault& fault) {
  if (fault.kind == Fault::Kind::kReset) return errors::ConnectionReset();
  const std::string text = fault.message.empty()
                               ? "Injected fault: return-" + std::to_string(fault.status) + "."
                               : fault.message;
  return errors::Injected(fault.status, text);
}

}  // namespace

bool Pause::For(Duration duration) {
  const MonotonicTime deadline = MonotonicNow() + duration;
  std::unique_lock lock(mutex_);
  while (!over_ && MonotonicNow() < deadline) {
    ended_.wait_until(lock, std::min(deadline, MonotonicNow() + kClientCheckInterval));
    lock.unlock();
    const bool is_abandoned = IsWorkAbandoned();
    lock.lock();
    if (is_abandoned) return false;
  }
  return !over_;
}

namespace {

// A request's body that stops or stalls after some bytes.
class FaultyBody final : public http::BodyReader {
 public:
  FaultyBody(http::BodyReader& source, const Fault& fault, uint64_t before, Pause& pause)
      : source_(source), fault_(fault), pause_(pause) {
    left_ = fault.bytes > before ? fault.bytes - before : 0;
  }

  Result<size_t> Read(char* buffer, size_t size) override {
    const bool stalls = fault_.kind == Fault::Kind::kStall;
    if (left_ == 0 && !injected_) {
      // The fault applies only if another byte follows. A body that ends here is complete.
      ASSIGN_OR_RETURN(const size_t one, source_.Read(buffer, std::min<size_t>(size, 1)));
      if (one == 0) return one;
      injected_ = true;
      if (!stalls) return errors::UploadBytesLost();
      pause_.For(fault_.pause);
      return one;
    }
    if (injected_) return stalls ? source_.Read(buffer, size) : errors::UploadBytesLost();
    ASSIGN_OR_RETURN(const size_t count, source_.Read(buffer, std::min<uint64_t>(size, left_)));
    left_ -= count;
    return count;
  }
  bool injected() const { return injected_; }

 private:
  http::BodyReader& source_;
  const Fault& fault_;
  Pause& pause_;
  uint64_t left_ = 0;
  bool injected_ = false;
};

// Sends the bytes of a body in any of its three forms. False if the sink refuses more.
bool SendBody(const Response& response, const Response::Sink& sink) {
  if (response.write_body) {
    bool taken = true;
    response.write_body([&](std::string_view piece) { return taken = taken && sink(piece); });
    return taken;
  }
  if (!response.file) return sink(response.body);
  std::string piece(kFaultPieceBytes, '\0');
  uint64_t done = 0;
  while (done < response.file->length) {
    const uint64_t wanted = std::min<uint64_t>(piece.size(), response.file->length - done);
    const ssize_t count = ::pread(response.file->descriptor.get(), piece.data(), wanted,
                                  static_cast<off_t>(response.file->offset + done));
    if (count <= 0) return false;
    if (!sink({piece.data(), static_cast<size_t>(count)})) return false;
    done += static_cast<uint64_t>(count);
  }
  return true;
}

int64_t LengthOf(const Response& response) {
  if (response.file) return static_cast<int64_t>(response.file->length);
  return response.write_body ? response.content_length : static_cast<int64_t>(response.body.size());
}

// Announces the length of the whole body, but sends only the first bytes, or all of them with a
// pause.
Response Broken(Response whole, const Fault& fault, const std::shared_ptr<Pause>& pause) {
  Response response;
  response.status = whole.status;
  response.headers = whole.headers;
  response.content_length = LengthOf(whole);
  const bool stalls = fault.kind == Fault::Kind::kStall;
  response.write_body = [whole = std::move(whole), bytes = fault.bytes, wait = fault.pause, stalls,
                         pause](const Response::Sink& sink) {
    uint64_t left = bytes;
    bool injected = false;
    SendBody(whole, [&](std::string_view piece) {
      if (injected) return sink(piece);
      const std::string_view first = piece.substr(0, left);
      left -= first.size();
      if (!first.empty() && !sink(first)) return false;
      if (left > 0) return true;
      injected = true;
      if (!stalls || !pause->For(wait)) return false;
      piece.remove_prefix(first.size());
      return piece.empty() || sink(piece);
    });
  };
  return response;
}

Response ResetResponse() {
  Response response;
  response.reset = true;
  return response;
}

// Runs one call with its fault.
struct FaultyCall {
  const std::string& method;
  const Request& request;
  const FaultSite& site;
  const Fault& fault;
  const http::Handler& handler;
  FaultPlan& plan;
  const std::shared_ptr<Pause>& pause;

  // Runs the call without the fault, which does not apply to it.
  Response RunWithoutFault() const {
    plan.PutBack(method, request, fault);
    return handler(request);
  }

  Response Upload(const FaultyCalls::Renderer& render) const {
    if (site.offset > fault.bytes && fault.bytes > 0)
      return RunWithoutFault();  // in an earlier piece
    FaultyBody body(*request.body, fault, site.offset, *pause);
    Request limited = request;
    limited.body = &body;
    Response response = handler(limited);
    if (!body.injected()) {
      plan.PutBack(method, request, fault);
      return response;
    }
    return fault.kind == Fault::Kind::kStall ? std::move(response) : render(InjectedBy(fault));
  }

  Response Download() const {
    Response response = handler(request);
    const bool served = response.status == 200 || response.status == 206;
    const int64_t length = LengthOf(response);
    const bool long_enough = length < 0 || static_cast<uint64_t>(length) > fault.bytes;
    if (!served || !long_enough) {
      plan.PutBack(method, request, fault);
      return response;
    }
    return Broken(std::move(response), fault, pause);
  }

  // A piece that does not end the upload has no body in its answer.
  Response FinalAnswer() const {
    Response response = handler(request);
    const bool done =
        response.status == 200 && !response.headers.Has("X-Http-Status-Code-Override");
    if (done && !site.answer_has_body) return ResetResponse();
    if (!done || response.body.size() <= fault.bytes) {
      plan.PutBack(method, request, fault);
      return response;
    }
    return Broken(std::move(response), fault, pause);
  }

  Response Do(const FaultyCalls::Renderer& render) const {
    const bool upload = site.kind == FaultSite::Kind::kUpload;
    const bool download = site.kind == FaultSite::Kind::kDownload;
    switch (fault.kind) {
      case Fault::Kind::kStatus:
        return render(InjectedBy(fault));
      case Fault::Kind::kReset:
        return ResetResponse();
      case Fault::Kind::kStatusAfterBytes:
        return upload ? Upload(render) : RunWithoutFault();
      case Fault::Kind::kBreakAfterBytes:
        return download ? Download() : RunWithoutFault();
      case Fault::Kind::kBreakFinalAnswer:
        return upload ? FinalAnswer() : RunWithoutFault();
      case Fault::Kind::kStall:
        return upload ? Upload(render) : download ? Download() : RunWithoutFault();
    }
    return RunWithoutFault();
  }
};

// Paths distinguish uploads and downloads of the JSON API.
FaultSite JsonSiteOf(const Request& request) {
  using Kind = FaultSite::Kind;
  const std::string& path = request.path;
  if (path.starts_with("/upload/") || path.starts_with("/resumable/upload/")) {
    const auto range = ParseContentRange(request.headers.Get("Content-Range"));
    return {Kind::kUpload, range && range->first ? *range->first : 0};
  }
  const bool media = request.Query("alt") == "media" || path.starts_with("/download/");
  return {media ? Kind::kDownload : Kind::kPlain};
}

}  // namespace

Response FaultyCalls::Run(const std::string& method, const Request& request, const FaultSite& site,
                          const Renderer& render, const http::Handler& handler) const {
  const auto fault = plan_ ? plan_->Take(method, request) : std::nullopt;
  if (!fault) return handler(request);
  return FaultyCall{method, request, site, *fault, handler, *plan_, pause_}.Do(render);
}

Status FaultyCalls::InjectFault(const std::string& method, const Request& request) const {
  const auto fault = plan_ ? plan_->Take(method, request) : std::nullopt;
  if (!fault) return Ok{};
  if (fault->kind == Fault::Kind::kStatus || fault->kind == Fault::Kind::kReset) {
    return InjectedBy(*fault);
  }
  plan_->PutBack(method, request, *fault);
  return Ok{};
}

std::vector<http::Route> WithFaults(std::vector<http::Route> routes,
                                    std::shared_ptr<FaultPlan> plan, std::shared_ptr<Pause> pause) {
  const FaultyCalls calls(std::move(plan), std::move(pause));
  for (http::Route& route : routes) {
    route.handler = [inner = std::move(route.handler), id = route.id, calls](
                        const Request& request, const PathParameters& path) {
      return calls.Run(
          id, request, JsonSiteOf(request),
          [](const Error& error) { return errors::ToResponse(error); },
          [&](const Request& limited) { return inner(limited, path); });
    };
  }
  return routes;
}

}  // namespace caip::gcs
