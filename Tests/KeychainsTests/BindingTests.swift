// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
import Secrets
import SpecExamples
import Storage
import TemporaryHomes
import Testing

@testable import Keychains

@Suite("Binding record")
struct BindingTests {
  @Test("The row of the worked example opens, says what the page says, and binds the example's keybag")
  func example() throws {
    let page = try SpecExample(page: "binding.md")
    let bag = try SpecExample(page: "keybag.md")
    let record = try bag.bytes("record")
    let home = try TemporaryHome()
    let file = try DatabaseFile.create(home: home.path) { _ in }
    let row = try page.bytes("row")
    try file.write { transaction in
      try transaction.execute("INSERT INTO keybag (only, record) VALUES (1, ?)", .bytes(Data(record)))
      try transaction.execute("INSERT INTO binding (only, record) VALUES (1, ?)", .bytes(Data(row)))
    }
    let keybag = try file.read { try Keybag.load($0) }
    let keys = ClassKeys(
      whenUnlocked: nil,
      afterFirstUnlock: SharedSecret(
        SecretBytes(copying: try bag.bytes("after-first-unlock-key").span.bytes)))
    let binding = try FileBinding(coffer: keybag.coffer, keys: keys)
    #expect(binding.key.withBytes { [UInt8](copying: $0) } == (try page.bytes("key")))
    #expect(binding.counterAuthorization().withBytes { [UInt8](copying: $0) } == (try page.bytes("authorization")))
    let plaintext = try page.bytes("plaintext")
    let read = BindingRecord(plaintext.span.bytes)
    let expected = try #require(read)
    #expect(expected.bytes == plaintext)
    #expect(expected.revision == 7)
    #expect(expected.counter == CounterMark(handle: [1, 2, 3, 4], value: 5, time: 1_759_536_000))
    try file.read { transaction in
      #expect(try binding.counter(transaction) == expected.counter)
      try FileBinding.checkSlots(transaction)
      try binding.verify(.slots, transaction)
      #expect(throws: StorageError.outdated(.messages)) { try binding.verify(.messages, transaction) }
    }
    // Another key, and another coffer's name.
    let other = try FileBinding(coffer: UUID(), keys: keys)
    #expect(throws: StorageError.corrupt(part: .binding)) {
      try file.read { try other.verify(.slots, $0) }
    }
  }

  @Test("A record has one encoding: bytes that are missing, added or out of order are none")
  func strict() throws {
    let plaintext = try SpecExample(page: "binding.md").bytes("plaintext")
    for count in 0..<plaintext.count {
      let isRead = BindingRecord(Array(plaintext[..<count]).span.bytes) != nil
      #expect(!isRead, "\(count) bytes")
    }
    let longer = BindingRecord((plaintext + [0]).span.bytes) == nil
    #expect(longer)
    var swapped = plaintext
    swapped[10] = 3
    let outOfOrder = BindingRecord(swapped.span.bytes) == nil
    #expect(outOfOrder)
    var unknown = plaintext
    unknown[0] = 2
    let otherVersion = BindingRecord(unknown.span.bytes) == nil
    #expect(otherVersion)
  }

  @Test("A locked coffer, with the key of the class after first unlock alone, follows its changes")
  func locked() throws {
    let (file, binding, keys, home) = try made()
    try withExtendedLifetime(home) {
      let locked = try FileBinding(coffer: binding.coffer, keys: keys.locked())
      try file.write { _ = try $0.execute("INSERT INTO captureState (only, sealed) VALUES (1, x'0102')") }
      #expect(throws: StorageError.outdated(.captures)) { try file.read { try locked.verify(.captures, $0) } }
      try file.write { try locked.record(.captures, $0) }
      try file.read { try binding.binding.verify(.captures, $0) }
      #expect(throws: KeychainError.locked) {
        try FileBinding(coffer: binding.coffer, keys: ClassKeys(whenUnlocked: nil, afterFirstUnlock: nil))
      }
    }
  }

  @Test("A transaction that fails leaves the record as it was")
  func undone() throws {
    let (file, binding, _, home) = try made()
    struct Refused: Error {}
    try withExtendedLifetime(home) {
      file.bind(binding.binding)
      #expect(throws: Refused.self) {
        try file.write(.messages) { transaction in
          try transaction.execute("INSERT INTO vault (part, sealed) VALUES (1, x'00')")
          throw Refused()
        }
      }
      #expect(try file.outdatedParts() == [])
      try file.write(.messages) { _ = try $0.execute("INSERT INTO vault (part, sealed) VALUES (1, x'01')") }
      #expect(try file.outdatedParts() == [])
      try file.write { _ = try $0.execute("INSERT INTO vault (part, sealed) VALUES (3, x'01')") }
      #expect(try file.outdatedParts() == [.messages])
    }
  }

  private func made() throws -> (
    DatabaseFile, (binding: FileBinding, coffer: UUID), ClassKeys, TemporaryHome
  ) {
    let home = try TemporaryHome()
    let file = try DatabaseFile.create(home: home.path) { _ in }
    let (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    let binding = try FileBinding(coffer: keybag.coffer, keys: unlocked.keys)
    try file.write { transaction in
      try keybag.save(transaction)
      try binding.create(transaction)
    }
    return (file, (binding, keybag.coffer), unlocked.keys, home)
  }
}
