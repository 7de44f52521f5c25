#include "host/machine/socket_owner.h"

#include <gtest/gtest.h>

namespace caip::host {
namespace {

// As Linux writes it: near end, far end, state, ..., inode. The listener has the far end 0.
constexpr char kTable[] =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
    "   0: FEA9FEA9:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
    "4711 1 0000000000000000 100 0 0 10 0\n"
    "   1: FEA9FEA9:0050 FEA9FEA9:C822 01 00000000:00000000 00:00000000 00000000     0        0 "
    "4712 1 0000000000000000 20 4 30 10 -1\n"
    "   2: FEA9FEA9:C822 FEA9FEA9:0050 01 00000000:00000000 00:00000000 00000000  1000        0 "
    "4713 1 0000000000000000 20 4 30 10 -1\n"
    "   3: 0100007F:C823 0100007F:0050 06 00000000:00000000 00:00000000 00000000     0        0 "
    "0 3 0000000000000000\n";

TEST(SocketOwner, FindsTheClientsEndOfAConnection) {
  EXPECT_EQ(InodeOfClient(kTable, "169.254.169.254:51234"), "4713");
}

TEST(SocketOwner, DoesNotFindWhatIsNotThere) {
  EXPECT_EQ(InodeOfClient(kTable, "169.254.169.254:51236"), "");
  EXPECT_EQ(InodeOfClient(kTable, "127.0.0.1:51235"), "");  // nobody holds it any more
  for (const char* client : {"", ":", "localhost:80", "[::1]:51234", "127.0.0.1"}) {
    EXPECT_EQ(InodeOfClient(kTable, client), "") << client;
  }
  EXPECT_EQ(InodeOfClient("", "127.0.0.1:51235"), "");
}

}  // namespace
}  // namespace caip::host
