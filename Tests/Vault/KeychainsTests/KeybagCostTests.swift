// SPDX-License-Identifier: Apache-2.0
//
// What a derivation may cost, when a slot is made and when one is read.

import Foundation
import Keychains
import Testing

@testable import Primitives

@Suite("Costs of key slots", .serialized)
struct KeybagCostTests {
  /// The KDF code and the three costs of a passphrase slot, behind its id and kind.
  private static func offset(ofSlot index: Int) -> Int {
    30 + index * [UInt8].RecordOffset.slotByteCount + 17
  }

  private func fields(_ code: UInt8, _ costs: [UInt32]) -> [UInt8] {
    var bytes = [code]
    for cost in costs { bytes.append(bigEndian: cost) }
    return bytes
  }

  @Test(
    "Costs out of bounds, and derivations that do not exist, make a record corrupt before any is run",
    arguments: [
      (0, [10, 0, 0]), (4, [0, 0, 0]), (255, [10, 0, 0]),
      (1, [0, 0, 0]), (1, [100_000_001, 0, 0]), (1, [.max, 0, 0]), (1, [10, 1, 0]), (1, [10, 0, 1]),
      (2, [7, 1, 1]), (2, [15, 1, 2]), (2, [4_194_305, 1, 1]), (2, [64, 0, 1]), (2, [64, 65, 1]),
      (2, [64, 1, 0]), (2, [4096, 1, 65]), (2, [.max, .max, .max]),
      (3, [0, 0, 0]), (3, [1, 0, 0]),
    ] as [(UInt8, [UInt32])])
  func bounds(code: UInt8, costs: [UInt32]) throws {
    let record = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1).keybag.record()
    #expect(throws: KeybagError.corrupt) {
      try read(record.with(fields(code, costs), at: Self.offset(ofSlot: 0)))
    }
  }

  @Test(
    "The highest and the lowest costs are read",
    arguments: [
      (1, [1, 0, 0]), (1, [100_000_000, 0, 0]), (2, [8, 1, 1]), (2, [4_194_304, 10, 64]),
      (2, [512, 1, 64]),
    ] as [(UInt8, [UInt32])])
  func allowed(code: UInt8, costs: [UInt32]) throws {
    let record = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1).keybag.record()
    let changed = record.with(fields(code, costs), at: Self.offset(ofSlot: 0))
    #expect(try read(changed).record() == changed)
  }

  @Test(
    "Slots that together cost more than about a minute make a record corrupt before any derivation is run",
    arguments: [
      (16, 1, [8_388_608, 0, 0], true), (16, 1, [8_388_609, 0, 0], false),
      (2, 1, [67_108_864, 0, 0], true), (2, 1, [67_108_865, 0, 0], false),
      (1, 2, [4_194_304, 10, 64], true), (1, 2, [4_194_304, 11, 64], false),
      (1, 2, [4_194_304, 64, 64], false),
      // What the program writes, and the first choice of RFC 9106, as often as there are slots.
      (16, 1, [600_000, 0, 0], true), (16, 2, [65_536, 3, 4], true), (16, 2, [2_097_152, 1, 4], true),
    ] as [(Int, UInt8, [UInt32], Bool)])
  func together(count: Int, code: UInt8, costs: [UInt32], isRead: Bool) throws {
    var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    for _ in 1..<count {
      try keybag.addSlot(passphrase("one"), kdf: cheapPBKDF2, keys: unlocked.keys, now: 1)
    }
    var record = keybag.record()
    for slot in 0..<count { record = record.with(fields(code, costs), at: Self.offset(ofSlot: slot)) }
    if isRead {
      #expect(try read(record).slots.count == count)
    } else {
      #expect(throws: KeybagError.corrupt) { try read(record) }
    }
  }

  @Test("No slot is made, added or replaced that would make all of them cost too much, nor derived first")
  func writing() throws {
    let large = SlotKDF.argon2id(.limit)
    var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    let before = keybag
    #expect(throws: KeybagError.derivation(.parameters)) {
      try Keybag.create(passphrase("one"), kdf: large, now: 1)
    }
    #expect(throws: KeybagError.derivation(.parameters)) {
      try keybag.addSlot(passphrase("two"), kdf: large, keys: unlocked.keys, now: 1)
    }
    #expect(throws: KeybagError.derivation(.parameters)) {
      try keybag.replaceSlot(
        unlocked.slot.id, by: passphrase("two"), kdf: large, keys: unlocked.keys, now: 1)
    }
    #expect(keybag == before)
  }

  @Test(
    "No slot is made that could not be read",
    arguments: [
      .seed, .pbkdf2(iterations: 0), .pbkdf2(iterations: -1), .pbkdf2(iterations: 100_000_001),
    ] as [SlotKDF])
  func making(kdf: SlotKDF) {
    #expect(throws: KeybagError.derivation(.parameters)) {
      try Keybag.create(passphrase("one"), kdf: kdf, now: 1)
    }
  }

  @Test("A recovery phrase has its own derivation and no other")
  func phraseDerivation() {
    #expect(throws: KeybagError.derivation(.parameters)) {
      try Keybag.create(recoveryPhrase(1), kdf: cheapPBKDF2, now: 1)
    }
    #expect(throws: KeybagError.derivation(.parameters)) {
      try Keybag.create(recoveryPhrase(1), kdf: cheapArgon2id(), now: 1)
    }
  }

  @Test("A derivation that needs more memory than there is is refused, and hides no slot behind it")
  func memoryGuard() async {
    // In a process of its own: the limit would hold for the tests beside this one, and for what they start.
    await #expect(processExitsWith: .success) { try KeybagCostTests().refuseLarge() }
  }

  fileprivate func refuseLarge() throws {
    let large = SlotKDF.argon2id(try Argon2idParameters(memoryKiB: 4_194_304, passes: 10, lanes: 64))
    var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    try keybag.addSlot(passphrase("two"), kdf: cheapPBKDF2, keys: unlocked.keys, now: 1)
    let record = keybag.record()
    // As if the first slot had been made on a larger machine.
    let foreign = try read(record.with(fields(2, [4_194_304, 10, 64]), at: Self.offset(ofSlot: 0)))
    try withAddressSpace(beyondPresent: 4 << 30) {
      expectNotEnoughMemory { try Keybag.create(passphrase("one"), kdf: large, now: 1) }
      expectNotEnoughMemory { try foreign.unlock(passphrase("one")) }
      expectNotEnoughMemory { try foreign.unlock(passphrase("neither")) }
      // The second slot is tried all the same; its MAC then shows that the first was changed.
      #expect(failure { _ = try foreign.unlock(passphrase("two")) } == .corrupt)
      let before = keybag
      expectNotEnoughMemory {
        try keybag.addSlot(passphrase("three"), kdf: large, keys: unlocked.keys, now: 1)
      }
      #expect(keybag == before)
    }
  }

  private func failure(_ body: () throws -> Void) -> KeybagError? {
    do { try body() } catch { return error as? KeybagError }
    return nil
  }

  private func expectNotEnoughMemory<R>(_ body: () throws -> R) {
    do {
      _ = try body()
      Issue.record("a derivation of 4 GiB was not refused")
    } catch KeybagError.derivation(.notEnoughMemory(let needed, let available)) {
      #expect(needed == 4 << 30)
      #expect(needed > available / 4 * 3)
    } catch {
      Issue.record("refused for another reason: \(error)")
    }
  }

  /// Runs `body` with an address-space limit.
  private func withAddressSpace(beyondPresent byteCount: UInt, _ body: () throws -> Void) throws {
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[0]
    var former = rlimit()
    #expect(getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &former) == 0)
    var limit = former
    limit.rlim_cur = min(former.rlim_max, (UInt(pages) ?? 0) * UInt(getpagesize()) + byteCount)
    #expect(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
    defer { setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &former) }
    try body()
  }
}
