// Measures operations in a second of any server of storage/v1: puts, reads, rewrites and lists
// small objects over kept connections. storage_peers.py starts the servers to compare.
//
//   bench_storage_load BASE BUCKET put|get|rewrite|list
//                      [--connections N] [--count N] [--repeat N] [--bytes N] [--server-pid PID]
//
// `put` makes small/0 ... small/<count-1>; the others read what put made. Each object is put, read
// or copied --repeat times (default: 1), so that a fast operation takes long enough to be measured.
// Prints one JSON object.
// `load_us` and, with --server-pid, `server_us` are microseconds of processor time for an
// operation. On a busy machine they are more reliable than elapsed time.

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/encoding.h"
#include "base/json.h"
#include "bench/wire_load.h"
#include "http/client.h"

namespace caip {
namespace {

struct Load {
  std::string base;
  std::string bucket;
  std::string operation;
  int connections = 16;
  int count = 2000;
  int repeat = 1;
  int bytes = 4096;
  int server_pid = 0;
};

struct Place {
  std::string host;
  std::string port;
};

Place PlaceOf(const std::string& base) {
  const size_t begin = base.find("//") + 2;
  const size_t colon = base.find(':', begin);
  if (!base.starts_with("http://") || colon == base.npos) GiveUp("'" + base + "' has no port");
  return {base.substr(begin, colon - begin), base.substr(colon + 1)};
}

std::string NameOf(int index) { return "small%2F" + std::to_string(index); }

// The part of every request after its target.
std::string FieldsOf(const Load& load, const std::string& type, size_t length) {
  std::string fields = " HTTP/1.1\r\nHost: " + load.base.substr(load.base.find("//") + 2) + "\r\n";
  if (type.empty()) return fields + "\r\n";
  return fields + "Content-Type: " + type + "\r\nContent-Length: " + std::to_string(length) +
         "\r\n\r\n";
}

WireLoad::Write PutRequest(const Load& load) {
  const std::string head = "POST /upload/storage/v1/b/" + load.bucket + "/o?uploadType=media&name=";
  const std::string fields =
      FieldsOf(load, "application/octet-stream", static_cast<size_t>(load.bytes));
  return [=, count = load.count, bytes = static_cast<size_t>(load.bytes)](int index,
                                                                          std::string& request) {
    request.append(head).append(NameOf(index % count)).append(fields);
    request.append(bytes, static_cast<char>('a' + index % 26));
  };
}

WireLoad::Write GetRequest(const Load& load) {
  const std::string head = "GET /storage/v1/b/" + load.bucket + "/o/";
  const std::string fields = "?alt=media" + FieldsOf(load, "", 0);
  return [=, count = load.count](int index, std::string& request) {
    request.append(head).append(NameOf(index % count)).append(fields);
  };
}

WireLoad::Write RewriteRequest(const Load& load) {
  const std::string objects = "/storage/v1/b/" + load.bucket + "/o/";
  const std::string to = "/rewriteTo/b/" + load.bucket + "/o/copy%2F";
  const std::string fields = FieldsOf(load, "application/json", 2) + "{}";
  return [=, count = load.count](int index, std::string& request) {
    request.append("POST ").append(objects).append(NameOf(index % count)).append(to);
    request.append(std::to_string(index % count)).append(fields);
  };
}

/// Pages through all of small/ and returns the number of objects.
int ListAll(const Load& load) {
  http::Client client(load.base);
  int seen = 0;
  std::string token;
  do {
    http::ClientRequest request;
    request.target = "/storage/v1/b/" + load.bucket + "/o?prefix=small%2F&maxResults=1000" +
                     (token.empty() ? "" : "&pageToken=" + PercentEncoded(token));
    const auto answer = client.Send(request);
    if (!answer.ok()) GiveUp(answer.error().message);
    if (answer->status != 200) GiveUp(answer->body.substr(0, 300));
    const Json page = Json::parse(answer->body, nullptr, false);
    if (page.is_discarded()) GiveUp("a page is not JSON");
    seen += page.contains("items") ? static_cast<int>(page["items"].size()) : 0;
    token = page.value("nextPageToken", "");
  } while (!token.empty());
  return seen;
}

double OwnSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// User and system time of a process, by /proc/PID/stat: fields 14 and 15, in clock ticks.
double SecondsOf(int pid) {
  const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  if (!stat.ok()) return 0;
  const auto words = Split(stat->substr(stat->rfind(')') + 2), ' ');
  return (std::atof(words[11].c_str()) + std::atof(words[12].c_str())) /
         static_cast<double>(::sysconf(_SC_CLK_TCK));
}

int Perform(const Load& load) {
  if (load.operation == "list") return ListAll(load);
  const Place place = PlaceOf(load.base);
  const int total = load.count * load.repeat;
  WireLoad wire(place.host, place.port, load.connections);
  if (load.operation == "put") {
    wire.Run(total, PutRequest(load));
  } else if (load.operation == "get") {
    wire.Run(total, GetRequest(load));
  } else if (load.operation == "rewrite") {
    wire.Run(total, RewriteRequest(load));
  } else {
    GiveUp("'" + load.operation + "' is none of put, get, rewrite, list");
  }
  return total;
}

int Run(const Load& load) {
  const double server_before = load.server_pid ? SecondsOf(load.server_pid) : 0;
  const double own_before = OwnSeconds();
  const auto start = std::chrono::steady_clock::now();
  const int done = Perform(load);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Json answer = {{"operation", load.operation},
                 {"count", done},
                 {"seconds", seconds},
                 {"per_second", done / seconds},
                 {"load_us", (OwnSeconds() - own_before) / done * 1e6}};
  if (load.server_pid) {
    answer["server_us"] = (SecondsOf(load.server_pid) - server_before) / done * 1e6;
  }
  std::printf("%s\n", CompactJson(answer).c_str());
  return 0;
}

}  // namespace
}  // namespace caip

int main(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0) {
    std::fprintf(stderr,
                 "usage: bench_storage_load BASE BUCKET put|get|rewrite|list "
                 "[--connections N] [--count N] [--repeat N] [--bytes N] [--server-pid PID]\n");
    return 2;
  }
  caip::Load load{argv[1], argv[2], argv[3]};
  for (int i = 4; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    int& value = flag == "--connections"  ? load.connections
                 : flag == "--bytes"      ? load.bytes
                 : flag == "--repeat"     ? load.repeat
                 : flag == "--server-pid" ? load.server_pid
                                          : load.count;
    value = std::atoi(argv[i + 1]);
  }
  return caip::Run(load);
}
