#include "http/transport/certificate_authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/time_text.h"
#include "http/transport/certificates.h"

namespace caip::http {
namespace {

using std::chrono::days;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr Instant kStart = std::chrono::sys_days(std::chrono::year(2026) / 11 / 21);

class Authority : public ::testing::Test {
 protected:
  std::unique_ptr<CertificateAuthority> Open(std::vector<std::string> names = {}) {
    auto opened = CertificateAuthority::Open(path_, std::move(names), clock_);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return std::move(*opened);
  }
  std::string Pem() const { return *ReadFile(path_ / "ca.pem"); }

  TemporaryDirectory directory_;
  Path path_ = directory_.path() / "state" / "ca";
  VirtualClock clock_{kStart};
};

CertificatePtr Shown(CertificateAuthority& authority, const std::string& name) {
  const auto made = authority.CertificateFor(name);
  EXPECT_TRUE(made.ok());
  return ReadCertificate(made->chain);
}

bool IsFor(X509& certificate, const std::string& host) {
  return ::X509_check_host(&certificate, host.data(), host.size(), 0, nullptr) == 1;
}

bool IsForAddress(X509& certificate, const std::string& address) {
  return ::X509_check_ip_asc(&certificate, address.c_str(), 0) == 1;
}

TEST_F(Authority, IsMadeAtFirstUseAndKeptAfterwards) {
  Open();
  const std::string made = Pem();
  EXPECT_THAT(made, StartsWith("-----BEGIN CERTIFICATE-----"));
  Open();
  EXPECT_EQ(Pem(), made);
}

TEST_F(Authority, KeepsItsKeyFromOthersAndShowsItsCertificate) {
  Open();
  struct stat key, certificate;
  ASSERT_EQ(::stat((path_ / "ca.key").c_str(), &key), 0);
  ASSERT_EQ(::stat((path_ / "ca.pem").c_str(), &certificate), 0);
  EXPECT_EQ(key.st_mode & 0777, 0600u);
  EXPECT_EQ(certificate.st_mode & 0444, 0444u);
}

TEST_F(Authority, MakesCertificatesThatItVouchesFor) {
  const auto authority = Open();
  const CertificatePtr own = ReadCertificate(Pem());
  const CertificatePtr made = Shown(*authority, "storage.googleapis.com");
  EXPECT_EQ(::X509_verify(made.get(), ::X509_get0_pubkey(own.get())), 1);
  EXPECT_EQ(::X509_check_issued(own.get(), made.get()), X509_V_OK);
  EXPECT_EQ(::X509_check_ca(own.get()), 1);
  EXPECT_EQ(::X509_check_ca(made.get()), 0);
  EXPECT_TRUE(IsFor(*made, "storage.googleapis.com"));
  EXPECT_FALSE(IsFor(*made, "www.googleapis.com"));
}

TEST_F(Authority, HandsOutTheKeyThatFits) {
  const auto made = Open()->CertificateFor("localhost");
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(HaveSameKey(*ReadCertificate(made->chain), *ReadKey(made->key)));
}

TEST_F(Authority, NamesLoopbackAndTheDefaultsWhenNoNameIsAskedFor) {
  const auto authority = Open(
      {"www.googleapis.com", "*.storage.googleapis.com", "*-ml.googleapis.com", "169.254.169.254"});
  const CertificatePtr made = Shown(*authority, "");
  for (const char* host : {"localhost", "www.googleapis.com", "b.storage.googleapis.com"}) {
    EXPECT_TRUE(IsFor(*made, host)) << host;
  }
  for (const char* address : {"127.0.0.1", "::1", "169.254.169.254"}) {
    EXPECT_TRUE(IsForAddress(*made, address)) << address;
  }
  EXPECT_FALSE(IsFor(*made, "us-central1-ml.googleapis.com"));
}

TEST_F(Authority, TakesNoNameThatWouldSayMore) {
  const auto authority = Open();
  for (const char* name : {"a.example,DNS:b.example", "a b", "a\nb", "*.example", "a;b"}) {
    const CertificatePtr made = Shown(*authority, name);
    EXPECT_TRUE(IsFor(*made, "localhost")) << name;
    EXPECT_FALSE(IsFor(*made, "b.example")) << name;
  }
}

TEST_F(Authority, MakesACertificateOnceUntilItIsDueForRenewal) {
  const auto authority = Open();
  const auto chain = [&] { return authority->CertificateFor("localhost")->chain; };
  const std::string first = chain();
  EXPECT_EQ(chain(), first);
  clock_.Advance(days(300));
  EXPECT_EQ(chain(), first);
  clock_.Advance(days(40));
  EXPECT_NE(chain(), first);
  EXPECT_GT(ExpiryOf(*ReadCertificate(chain())), clock_.Now() + days(300));
}

TEST_F(Authority, LastsTenYearsAndItsCertificatesNoLongerThanItself) {
  const auto authority = Open();
  EXPECT_GT(ExpiryOf(*ReadCertificate(Pem())), kStart + days(3600));
  clock_.Advance(days(3600));
  EXPECT_LE(ExpiryOf(*Shown(*authority, "localhost")), ExpiryOf(*ReadCertificate(Pem())));
}

TEST_F(Authority, IsMadeAnewWhenItIsAboutToEnd) {
  Open();
  const std::string old = Pem();
  clock_.Advance(days(3640));
  Open();
  EXPECT_NE(Pem(), old);
}

TEST_F(Authority, IsMadeAnewWhenItIsDamaged) {
  for (const char* file : {"ca.key", "ca.pem"}) {
    Open();
    const std::string old = Pem();
    ASSERT_TRUE(WriteFile(path_ / file, "-----BEGIN nothing").ok());
    const auto authority = Open();
    EXPECT_TRUE(IsFor(*Shown(*authority, "localhost"), "localhost"));
    EXPECT_NE(Pem(), old) << file;
    const auto bundle = ReadFile(authority->bundle_file());
    ASSERT_TRUE(bundle.ok());
    EXPECT_THAT(*bundle, HasSubstr(Pem())) << file;
  }
}

TEST_F(Authority, WritesABundleWithItsOwnCertificate) {
  const auto authority = Open();
  const auto bundle = ReadFile(authority->bundle_file());
  ASSERT_TRUE(bundle.ok());
  EXPECT_THAT(*bundle, HasSubstr(Pem()));
}

TEST_F(Authority, TrustsInItsBundleWhomTheHostTrusts) {
  Open();
  const auto bundle_with = [&](const Path& roots) {
    const auto authority = CertificateAuthority::Open(path_, {}, clock_, roots);
    return *ReadFile((*authority)->bundle_file());
  };
  const Path company = directory_.path() / "company.pem";
  const Path other = directory_.path() / "other.pem";
  ASSERT_TRUE(WriteFile(company, "COMPANY").ok());
  ASSERT_TRUE(WriteFile(other, "OTHER").ok());
  EXPECT_THAT(bundle_with(company), EndsWith(Pem() + "\nCOMPANY"));
  EXPECT_THAT(bundle_with(other), EndsWith(Pem() + "\nOTHER"));
  EXPECT_THAT(bundle_with(company), EndsWith(Pem() + "\nCOMPANY"));  // the youngest is the bundle
  EXPECT_THAT(bundle_with(path_ / "bundle.pem"), EndsWith("\nCOMPANY"));  // `caip env` was there
  EXPECT_THAT(bundle_with(directory_.path() / "none.pem"), Not(HasSubstr("COMPANY")));
  ASSERT_TRUE(WriteFile(path_ / "bundle.pem", "of an authority that is gone").ok());
  EXPECT_THAT(bundle_with(path_ / "bundle.pem"), HasSubstr(Pem()));
}

TEST_F(Authority, LeavesABundleThatIsYoungerThanItsParts) {
  const Path bundle = Open()->bundle_file();
  const std::vector<std::string> lines = Split(*ReadFile(bundle), '\n');
  const std::string head = lines[0] + "\n" + lines[1] + "\n";
  const auto bundle_aged = [&](std::chrono::hours age) {
    EXPECT_TRUE(WriteFile(bundle, head + "as it was").ok());
    const auto certified = std::filesystem::last_write_time(path_ / "ca.pem");
    std::filesystem::last_write_time(bundle, certified - age);
    Open();
    return *ReadFile(bundle);
  };
  EXPECT_THAT(bundle_aged(-std::chrono::hours(1)), EndsWith("as it was"));
  EXPECT_THAT(bundle_aged(std::chrono::hours(1)), Not(EndsWith("as it was")));
}

// Parsing a certificate takes as long as a short command.
TEST_F(Authority, IsNotParsedWhileItsBundleKnowsIt) {
  const Path bundle = Open()->bundle_file();
  const std::string unparsable = "-----BEGIN nothing";
  ASSERT_TRUE(WriteFile(path_ / "ca.pem", unparsable).ok());
  const std::string source = Split(*ReadFile(bundle), '\n').front();
  const auto open_with_seal = [&](const std::string& digest, const std::string& until) {
    EXPECT_TRUE(WriteFile(bundle, source + "\n# The certificate of caip's authority: " + digest +
                                      " until " + until + "\n")
                    .ok());
    return Open();
  };
  const std::string later = Rfc3339(clock_.Now() + days(100));
  const auto authority = open_with_seal(Sha256Hex(unparsable), later);
  EXPECT_EQ(Pem(), unparsable);
  EXPECT_TRUE(IsFor(*Shown(*authority, "localhost"), "localhost"));
  EXPECT_NE(Pem(), unparsable) << "a damaged one is replaced when it is needed";
  const std::pair<std::string, std::string> others[] = {
      {Sha256Hex("other"), later},
      {Sha256Hex(unparsable), Rfc3339(clock_.Now())},
      {Sha256Hex(unparsable), "some day"},
  };
  for (const auto& [digest, until] : others) {
    ASSERT_TRUE(WriteFile(path_ / "ca.pem", unparsable).ok());
    open_with_seal(digest, until);
    EXPECT_NE(Pem(), unparsable) << digest << " " << until;
  }
}

TEST_F(Authority, SaysWhereItCannotBeMade) {
  ASSERT_TRUE(WriteFile(directory_.path() / "state", "a file in its place").ok());
  const auto opened = CertificateAuthority::Open(path_, {}, clock_);
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message, HasSubstr(path_.string()));
}

}  // namespace
}  // namespace caip::http
