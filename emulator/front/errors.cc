#include "emulator/front/errors.h"

#include "base/quoting.h"

namespace caip::front::errors {

Error CannotWriteAccessLog(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot write the access log " + Quoted(file.native()), error_number);
}

namespace {

std::string DescribeRejection(const http::CertificateRejection& rejection) {
  const std::string client =
      rejection.user_agent.empty() ? "A client" : "The client " + Quoted(rejection.user_agent);
  const std::string server = rejection.server_name.empty() ? "caip" : rejection.server_name;
  return client + " in this replica does not trust caip's certificate for " + server +
         " (TLS alert " + rejection.alert + "). ";
}

}  // namespace

std::string CertificateRejected(const http::CertificateRejection& rejection,
                                const std::filesystem::path& bundle) {
  return DescribeRejection(rejection) +
         "It reads neither CURL_CA_BUNDLE nor SSL_CERT_FILE. Make it trust the file " +
         bundle.native() +
         ", or start caip with `--isolation machine`: replicas then see this file "
         "instead of the host's certificate authorities.";
}

std::string CertificateRejectedOnMachine(const http::CertificateRejection& rejection,
                                         const std::filesystem::path& bundle) {
  return DescribeRejection(rejection) +
         "It reads neither CURL_CA_BUNDLE nor SSL_CERT_FILE, nor the system's file of certificate "
         "authorities. Make it trust the file " +
         bundle.native() + ".";
}

}  // namespace caip::front::errors
