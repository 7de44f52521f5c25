// Operations in a second of any server that speaks storage/v1: small objects put, read, rewritten
// and listed over kept connections. Knows nothing of our own server; storage_peers.py starts the
// servers to compare.
//
//   bench_storage_load BASE BUCKET put|get|rewrite|list [--connections N] [--count N] [--bytes N]
//
// `put` makes small/0 ... small/<count-1>; the others read what put made. Prints one JSON object.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "http/client.h"

namespace caip {
namespace {

struct Load {
  std::string base;
  std::string bucket;
  std::string operation;
  int connections = 16;
  int count = 2000;
  int bytes = 4096;
};

std::string NameOf(int index) { return "small%2F" + std::to_string(index); }

http::ClientRequest PutRequest(const Load& load, int index) {
  http::ClientRequest request;
  request.method = "POST";
  request.target =
      "/upload/storage/v1/b/" + load.bucket + "/o?uploadType=media&name=" + NameOf(index);
  request.headers.Set("Content-Type", "application/octet-stream");
  request.body.assign(static_cast<size_t>(load.bytes), static_cast<char>('a' + index % 26));
  return request;
}

http::ClientRequest GetRequest(const Load& load, int index) {
  http::ClientRequest request;
  request.target = "/storage/v1/b/" + load.bucket + "/o/" + NameOf(index) + "?alt=media";
  return request;
}

http::ClientRequest RewriteRequest(const Load& load, int index) {
  http::ClientRequest request;
  request.method = "POST";
  request.target = "/storage/v1/b/" + load.bucket + "/o/" + NameOf(index) + "/rewriteTo/b/" +
                   load.bucket + "/o/copy%2F" + std::to_string(index);
  request.headers.Set("Content-Type", "application/json");
  request.body = "{}";
  return request;
}

[[noreturn]] void GiveUp(const std::string& why) {
  std::fprintf(stderr, "storage_load: %s\n", why.c_str());
  std::exit(1);
}

std::string SendOrGiveUp(http::Client& client, const http::ClientRequest& request) {
  auto answer = client.Send(request);
  if (!answer.ok()) GiveUp(answer.error().message);
  if (answer->status / 100 != 2) {
    GiveUp(request.method + " " + request.target + ": " + std::to_string(answer->status) + " " +
           answer->body.substr(0, 300));
  }
  return std::move(answer->body);
}

/// Every index once, whichever connection is free.
void SendAll(const Load& load, const std::function<http::ClientRequest(const Load&, int)>& make) {
  std::atomic<int> next{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < load.connections; ++i) {
    threads.emplace_back([&] {
      http::Client client(load.base);
      for (int index = next++; index < load.count; index = next++) {
        SendOrGiveUp(client, make(load, index));
      }
    });
  }
}

/// Pages through all of small/; answers how many objects it saw.
int ListAll(const Load& load) {
  http::Client client(load.base);
  int seen = 0;
  std::string token;
  do {
    http::ClientRequest request;
    request.target = "/storage/v1/b/" + load.bucket + "/o?prefix=small%2F&maxResults=1000" +
                     (token.empty() ? "" : "&pageToken=" + token);
    const Json page = Json::parse(SendOrGiveUp(client, request), nullptr, false);
    if (page.is_discarded()) GiveUp("a page is no JSON");
    seen += page.contains("items") ? static_cast<int>(page["items"].size()) : 0;
    token = page.value("nextPageToken", "");
    for (size_t at = 0; (at = token.find_first_of("+/=", at)) != std::string::npos; at += 3) {
      token.replace(at, 1, token[at] == '+' ? "%2B" : token[at] == '/' ? "%2F" : "%3D");
    }
  } while (!token.empty());
  return seen;
}

int Run(const Load& load) {
  int done = load.count;
  const auto start = std::chrono::steady_clock::now();
  if (load.operation == "put") {
    SendAll(load, PutRequest);
  } else if (load.operation == "get") {
    SendAll(load, GetRequest);
  } else if (load.operation == "rewrite") {
    SendAll(load, RewriteRequest);
  } else if (load.operation == "list") {
    done = ListAll(load);
  } else {
    GiveUp("'" + load.operation + "' is none of put, get, rewrite, list");
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("{\"operation\": \"%s\", \"count\": %d, \"seconds\": %.3f, \"per_second\": %.1f}\n",
              load.operation.c_str(), done, seconds, done / seconds);
  return 0;
}

}  // namespace
}  // namespace caip

int main(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0) {
    std::fprintf(stderr,
                 "usage: bench_storage_load BASE BUCKET put|get|rewrite|list "
                 "[--connections N] [--count N] [--bytes N]\n");
    return 2;
  }
  caip::Load load{argv[1], argv[2], argv[3]};
  for (int i = 4; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    int& value = flag == "--connections" ? load.connections
                 : flag == "--bytes"     ? load.bytes
                                         : load.count;
    value = std::atoi(argv[i + 1]);
  }
  return caip::Run(load);
}
