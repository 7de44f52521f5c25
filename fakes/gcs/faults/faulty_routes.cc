#include "fakes/gcs/faults/faulty_routes.h"

#include <unistd.h>

#include <algorithm>

#include "fakes/gcs/errors.h"
#include "fakes/gcs/wire/byte_ranges.h"

namespace caip::gcs {
namespace {

using http::PathParameters;
using http::Request;
using http::Response;

constexpr uint64_t kFaultPieceBytes = 64 << 10;

Response StatusOf(const Fault& fault) {
  struct Reason {
    int status;
    const char* reason;
  };
  constexpr Reason kReasons[] = {
      {400, "invalid"},         {401, "required"},          {403, "forbidden"},
      {404, "notFound"},        {408, "requestTimeout"},    {409, "conflict"},
      {412, "conditionNotMet"}, {429, "rateLimitExceeded"}, {500, "internalError"},
      {502, "badGateway"},      {503, "backendError"},      {504, "gatewayTimeout"}};
  const char* reason = "injected";
  for (const Reason& known : kReasons) {
    if (known.status == fault.status) reason = known.reason;
  }
  const std::string text = fault.message.empty()
                               ? "Injected fault: return-" + std::to_string(fault.status) + "."
                               : fault.message;
  return errors::ToResponse(fault.status, reason, text);
}

// A request's body that stops or stalls after some bytes.
class FaultyBody final : public http::BodyReader {
 public:
  FaultyBody(http::BodyReader& source, const Fault& fault, uint64_t before, Pause& pause)
      : source_(source), fault_(fault), pause_(pause) {
    left_ = fault.bytes > before ? fault.bytes - before : 0;
  }

  Result<size_t> Read(char* buffer, size_t size) override {
    const bool stalls = fault_.kind == Fault::Kind::kStall;
    if (left_ == 0 && !struck_) {
      // The fault needs a byte beyond its mark: a body that ends there is whole.
      ASSIGN_OR_RETURN(const size_t one, source_.Read(buffer, std::min<size_t>(size, 1)));
      if (one == 0) return one;
      struck_ = true;
      if (!stalls) return errors::UploadBytesLost();
      pause_.For(fault_.pause);
      return one;
    }
    if (struck_) return stalls ? source_.Read(buffer, size) : errors::UploadBytesLost();
    ASSIGN_OR_RETURN(const size_t count, source_.Read(buffer, std::min<uint64_t>(size, left_)));
    left_ -= count;
    return count;
  }
  bool struck() const { return struck_; }

 private:
  http::BodyReader& source_;
  const Fault& fault_;
  Pause& pause_;
  uint64_t left_ = 0;
  bool struck_ = false;
};

// The bytes of a body in any of its three forms, in pieces. False when the sink has had enough.
bool Pour(const Response& response, const Response::Sink& sink) {
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

// Promises all of the body and sends only the first bytes of it, or all with a pause between.
Response Broken(Response whole, const Fault& fault, const std::shared_ptr<Pause>& pause) {
  Response response;
  response.status = whole.status;
  response.headers = whole.headers;
  response.content_length = LengthOf(whole);
  const bool stalls = fault.kind == Fault::Kind::kStall;
  response.write_body = [whole = std::move(whole), bytes = fault.bytes, wait = fault.pause, stalls,
                         pause](const Response::Sink& sink) {
    uint64_t left = bytes;
    bool struck = false;
    Pour(whole, [&](std::string_view piece) {
      if (struck) return sink(piece);
      const std::string_view first = piece.substr(0, left);
      left -= first.size();
      if (!first.empty() && !sink(first)) return false;
      if (left > 0) return true;
      struck = true;
      if (!stalls || !pause->For(wait)) return false;
      piece.remove_prefix(first.size());
      return piece.empty() || sink(piece);
    });
  };
  return response;
}

bool IsUpload(const Request& request) {
  return request.path.starts_with("/upload/") || request.path.starts_with("/resumable/upload/");
}

bool IsMedia(const Request& request, const Response& response) {
  return (response.status == 200 || response.status == 206) && !IsUpload(request) &&
         (response.file || response.write_body || request.Query("alt") == "media" ||
          request.path.starts_with("/download/"));
}

// Where in the object this request's first byte stands.
uint64_t OffsetOf(const Request& request) {
  const auto range = ParseContentRange(request.headers.Get("Content-Range"));
  return range && range->first ? *range->first : 0;
}

struct FaultyCall {
  const http::RouteHandler& handler;
  const std::string& method;
  FaultPlan& plan;
  const std::shared_ptr<Pause>& pause;

  Response Upload(const Request& request, const PathParameters& path, const Fault& fault) const {
    const uint64_t offset = OffsetOf(request);
    if (offset > fault.bytes && fault.bytes > 0) {  // went by with an earlier piece
      plan.PutBack(method, request, fault);
      return handler(request, path);
    }
    FaultyBody body(*request.body, fault, offset, *pause);
    Request limited = request;
    limited.body = &body;
    Response response = handler(limited, path);
    if (!body.struck()) {
      plan.PutBack(method, request, fault);
      return response;
    }
    return fault.kind == Fault::Kind::kStall ? std::move(response) : StatusOf(fault);
  }

  Response Download(const Request& request, const PathParameters& path, const Fault& fault) const {
    Response response = handler(request, path);
    const int64_t length = LengthOf(response);
    const bool long_enough = length < 0 || static_cast<uint64_t>(length) > fault.bytes;
    if (!IsMedia(request, response) || !long_enough) {
      plan.PutBack(method, request, fault);
      return response;
    }
    return Broken(std::move(response), fault, pause);
  }

  Response FinalAnswer(const Request& request, const PathParameters& path,
                       const Fault& fault) const {
    Response response = handler(request, path);
    const bool final = IsUpload(request) && response.status == 200 && !response.body.empty();
    if (!final || response.body.size() <= fault.bytes) {
      plan.PutBack(method, request, fault);
      return response;
    }
    return Broken(std::move(response), fault, pause);
  }

  Response Do(const Request& request, const PathParameters& path, const Fault& fault) const {
    switch (fault.kind) {
      case Fault::Kind::kStatus:
        return StatusOf(fault);
      case Fault::Kind::kReset: {
        Response response;
        response.reset = true;
        return response;
      }
      case Fault::Kind::kStatusAfterBytes:
        if (IsUpload(request)) return Upload(request, path, fault);
        plan.PutBack(method, request, fault);
        return handler(request, path);
      case Fault::Kind::kBreakAfterBytes:
        return Download(request, path, fault);
      case Fault::Kind::kBreakFinalAnswer:
        return FinalAnswer(request, path, fault);
      case Fault::Kind::kStall:
        return IsUpload(request) ? Upload(request, path, fault) : Download(request, path, fault);
    }
    return handler(request, path);
  }
};

}  // namespace

std::vector<http::Route> WithFaults(std::vector<http::Route> routes,
                                    std::shared_ptr<FaultPlan> plan, std::shared_ptr<Pause> pause) {
  for (http::Route& route : routes) {
    route.handler = [inner = std::move(route.handler), id = route.id, plan, pause](
                        const Request& request, const PathParameters& path) {
      const auto fault = plan->Take(id, request);
      if (!fault) return inner(request, path);
      return FaultyCall{inner, id, *plan, pause}.Do(request, path, *fault);
    };
  }
  return routes;
}

}  // namespace caip::gcs
