// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CofferCommands

@Suite("Amounts for users")
struct AmountTests {
  @Test("The digits of a large number are in groups of three, and a counted one is as scripts read it")
  func groups() {
    let texts = [0: "0", 999: "999", 5004: "5,004", 1_234_567: "1,234,567", -1000: "-1,000"]
    for (number, text) in texts { #expect(number.grouped == text) }
    #expect(5004.counted("message") == "5004 messages" && 1.counted("message") == "1 message")
  }
}
