// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OpenPGP

struct PacketHeaderTests {
  @Test(
    "A length is written in as few octets as it needs",
    arguments: [(0, 1), (191, 1), (192, 2), (8383, 2), (8384, 5)])
  func shortest(byteCount: Int, octetCount: Int) {
    #expect(PacketHeader(type: .userID, byteCount: byteCount).bytes.count == 1 + octetCount)
  }
}
