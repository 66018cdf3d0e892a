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
    let classKey = try bag.bytes("after-first-unlock-key")
    let keys = ClassKeys(
      whenUnlocked: nil, afterFirstUnlock: SharedSecretBytes(SecretBytes(copying: classKey.span.bytes)))
    let binding = try FileBinding(coffer: keybag.coffer, keys: keys)
    let key = binding.key.withBytes { [UInt8](copying: $0) }
    let authorization = binding.counterAuthorization().withBytes { [UInt8](copying: $0) }
    #expect(try page.bytes("key") == key)
    #expect(try page.bytes("authorization") == authorization)
    let plaintext = try page.bytes("plaintext")
    let expected = try #require(read(plaintext))
    #expect(expected.bytes == plaintext)
    #expect(expected.revision == 7)
    #expect(expected.counter == CounterMark(handle: [1, 2, 3, 4], value: 5, time: 1_759_536_000))
    try file.read { transaction in
      #expect(try binding.counter(transaction) == expected.counter)
      try FileBinding.checkSlots(transaction)
      try binding.verify(.slots, transaction)
      #expect(throws: StorageError.outdated(.keychain)) { try binding.verify(.keychain, transaction) }
      try binding.verify(.messages, transaction)
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
    for count in 0..<plaintext.count { #expect(read(Array(plaintext[..<count])) == nil, "\(count) bytes") }
    #expect(read(plaintext + [0]) == nil)
    var swapped = plaintext
    swapped[10] = 3
    #expect(read(swapped) == nil)
    var unknown = plaintext
    unknown[0] = 2
    #expect(read(unknown) == nil)
  }

  private func read(_ bytes: [UInt8]) -> BindingRecord? { BindingRecord(bytes.span.bytes) }

  @Test("A locked coffer, with the key of the class after first unlock alone, follows its changes")
  func locked() throws {
    let place = try BoundFile()
    let file = place.file
    let locked = try FileBinding(coffer: place.coffer, keys: place.keys.locked())
    try file.write { _ = try $0.execute("INSERT INTO captureState (only, sealed) VALUES (1, x'0102')") }
    #expect(throws: StorageError.outdated(.captures)) { try file.read { try locked.verify(.captures, $0) } }
    try file.write { try locked.record(.captures, $0) }
    try file.read { try place.binding.verify(.captures, $0) }
    let none = ClassKeys(whenUnlocked: nil, afterFirstUnlock: nil)
    #expect(throws: KeychainError.locked) { try FileBinding(coffer: place.coffer, keys: none) }
  }

  @Test("A transaction that fails leaves the record as it was")
  func undone() throws {
    struct Refused: Error {}
    let place = try BoundFile()
    let file = place.file
    file.bind(place.binding)
    #expect(throws: Refused.self) {
      try file.write(.messages) { transaction in
        try transaction.execute("INSERT INTO vault (part, sealed) VALUES (1, x'00')")
        throw Refused()
      }
    }
    #expect(try file.outdatedParts() == [])
    try file.write(.messages) { _ = try $0.execute("INSERT INTO vault (part, sealed) VALUES (1, x'01')") }
    #expect(try file.outdatedParts() == [])
    // The search record: the state says which one belongs to it.
    try file.write { _ = try $0.execute("INSERT INTO vault (part, sealed) VALUES (3, x'01')") }
    #expect(try file.outdatedParts() == [])
    try file.write { _ = try $0.execute("INSERT INTO vault (part, sealed) VALUES (2, x'01')") }
    #expect(try file.outdatedParts() == [.messages])
  }
}

/// A file with slots and a binding record.
final class BoundFile {
  let home: TemporaryHome
  let file: DatabaseFile
  let keys: ClassKeys
  let coffer: UUID
  let binding: FileBinding

  init() throws {
    home = try TemporaryHome()
    file = try DatabaseFile.create(home: home.path) { _ in }
    let (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    keys = unlocked.keys
    coffer = keybag.coffer
    let binding = try FileBinding(coffer: coffer, keys: keys)
    try file.write { transaction in
      try keybag.save(transaction)
      try binding.create(transaction)
    }
    self.binding = binding
  }
}
