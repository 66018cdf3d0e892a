// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Secrets

@Suite("Reserving locked memory")
struct SecretMemoryPreparationTests {
  @Test("A slab of every small size can be locked, again and again")
  func reserves() {
    for _ in 0..<2 { #expect(SecretMemory.reserve() == SecretMemory.isLocked) }
    let smallest = SecretBytes(zeroed: 1)
    let largest = SecretBytes(zeroed: 4_096)
    #expect(smallest.count == 1 && largest.count == 4_096)
  }
}
