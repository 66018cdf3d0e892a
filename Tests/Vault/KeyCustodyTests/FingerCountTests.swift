// SPDX-License-Identifier: Apache-2.0

import Keychains
import Testing
import UserAuthentication

@testable import KeyCustody

@Suite("The count of wrong fingers over all commands")
struct FingerCountTests {
  private static let limit = AuthenticationLimits().fingerFailureLimit

  @Test("It is one for all processes: the fifth wrong finger locks, and only a reset unlocks")
  func shared() throws {
    let fixture = try CustodyFixture()
    for number in 0..<Self.limit {
      // A command of its own each.
      let count = KeychainFingerCount(KeychainService(keychain: fixture.store, keys: fixture.keys))
      #expect(try count.value() == number)
      #expect(try count.takeTry(limit: Self.limit))
    }
    let count = KeychainFingerCount(fixture.keychain)
    #expect(try !count.takeTry(limit: Self.limit))
    #expect(try count.value() == Self.limit)
    count.giveBack()
    #expect(try count.takeTry(limit: Self.limit))
    #expect(try !count.takeTry(limit: Self.limit))
    count.reset()
    #expect(try count.value() == 0)
  }

  @Test("A count that is missing, damaged, locked or cannot be written takes no finger")
  func failsClosed() throws {
    let fixture = try CustodyFixture()
    let count = KeychainFingerCount(fixture.keychain)
    let locked = KeychainFingerCount(KeychainService(keychain: fixture.store, keys: fixture.keys.locked()))
    #expect(throws: AuthenticationError.countUnavailable) { try locked.takeTry(limit: 5) }
    fixture.store.plan.withLock { $0.batchesLeft = 0 }
    #expect(throws: AuthenticationError.countUnavailable) { try count.takeTry(limit: 5) }
    fixture.store.plan.withLock { $0.batchesLeft = nil }
    for stored: [UInt8]? in [[1], [2, 0], [1, 0, 0], nil] {
      try fixture.change(KeychainFingerCount.account) { _ in stored }
      #expect(throws: AuthenticationError.countUnavailable) { try count.takeTry(limit: 5) }
      count.reset()
      #expect(throws: KeychainError.self) { try count.value() }
    }
  }
}
