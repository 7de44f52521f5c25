#include "fakes/metadata/errors.h"

#include "base/json.h"
#include "base/quoting.h"

namespace caip::metadata::errors {
namespace {

// The metadata server answers with pages, not with JSON.
http::Response Page(int status, const std::string& title, const std::string& sentence) {
  http::Response response;
  response.status = status;
  response.headers.Set("Content-Type", "text/html; charset=UTF-8");
  response.body = "<!DOCTYPE html>\n<html lang=en>\n  <meta charset=utf-8>\n  <title>Error " +
                  std::to_string(status) + " (" + title + ")</title>\n  <p><b>" +
                  std::to_string(status) + ".</b> <ins>That's an error.</ins>\n  <p>" + sentence +
                  "\n";
  return response;
}

http::Response OAuthError(int status, const char* error, const std::string& description) {
  http::Response response = http::JsonResponse(
      status, PrettyJson(Json{{"error", error}, {"error_description", description}}) + "\n");
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

}  // namespace

Error KeyUnreadable(std::string_view file) {
  return {Code::kDataLoss, "'" + std::string(file) +
                               "' does not contain a key. Delete the file to create a new key; "
                               "everything that the old key signed becomes invalid."};
}

Error KeyNotCreated(std::string_view file, std::string_view why) {
  return {Code::kInternal,
          "Cannot create a key for '" + std::string(file) + "': " + std::string(why)};
}

Error FormInvalid() { return {Code::kInvalidArgument, "the form is malformed"}; }

Error JwtPartsInvalid() {
  return {Code::kInvalidArgument, "a JWT must have three parts with a dot between them"};
}

Error JwtPartInvalid(std::string_view part) {
  return {Code::kInvalidArgument, "the " + std::string(part) + " is not valid"};
}

http::Response NotFound(std::string_view path) {
  return Page(
      404, "Not Found",
      "The requested URL <code>" + MarkupText(path) + "</code> was not found on this server.");
}

http::Response FlavorMissing() {
  return Page(403, "Forbidden",
              "Your client does not have permission to get this URL from this server. Missing "
              "Metadata-Flavor:Google header.");
}

http::Response Forwarded() {
  return Page(403, "Forbidden",
              "Your client does not have permission to get this URL from this server. The metadata "
              "server does not answer forwarded requests (X-Forwarded-For).");
}

http::Response MethodNotAllowed(std::string_view method) {
  http::Response response =
      Page(405, "Method Not Allowed",
           "The request method <code>" + MarkupText(method) + "</code> is inappropriate here.");
  response.headers.Set("Allow", "GET, HEAD");
  return response;
}

http::Response ParameterInvalid(std::string_view name, std::string_view value,
                                std::string_view rule) {
  return Page(400, "Bad Request",
              "<code>" + MarkupText(name) + "=" + MarkupText(value) +
                  "</code>: " + MarkupText(name) + " " + MarkupText(rule) + ".");
}

http::Response AudienceMissing() {
  http::Response response;
  response.status = 400;
  response.headers.Set("Content-Type", "text/html; charset=UTF-8");
  response.body = "non-empty audience parameter required\n";
  return response;
}

http::Response MachineRemoved() {
  return Page(503, "Service Unavailable",
              "The machine and its metadata server no longer exist. Do not retry.");
}

http::Response KeyUnusable(const Error& error) {
  return Page(500, "Internal Server Error", MarkupText(error.message));
}

http::Response GrantUnsupported(std::string_view grant) {
  return OAuthError(400, "unsupported_grant_type",
                    "grant_type '" + std::string(grant) +
                        "' is not supported. Use urn:ietf:params:oauth:grant-type:jwt-bearer or "
                        "refresh_token.");
}

http::Response AssertionInvalid(std::string_view why) {
  return OAuthError(400, "invalid_grant", "Invalid JWT: " + std::string(why) + ".");
}

http::Response RefreshTokenMissing() {
  return OAuthError(400, "invalid_request", "Missing required parameter: refresh_token");
}

http::Response TokenInvalid() { return OAuthError(400, "invalid_token", "Invalid Value"); }

}  // namespace caip::metadata::errors
