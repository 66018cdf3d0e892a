// SPDX-License-Identifier: Apache-2.0
//
// Judging a passphrase goes through two C libraries. These tests search the whole memory of the process
// afterwards.

import Keychains
import MemorySearch
import Secrets
import Testing

@Suite("What passphrases leave in memory")
struct MemoryResidueTests {
  /// Each byte of the text, exclusive-or 0x55: letters, digits and symbols, then a composed and a
  /// decomposed letter for the normalisation.
  private static let ascii: [UInt8] = [
    3, 45, 98, 116, 56, 4, 47, 118, 37, 57, 58, 108, 30, 49, 10, 33, 2, 39, 97,
  ]

  @Test("A passphrase that was checked leaves no copy, forward or in reverse")
  func checked() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let tests = MemoryResidueTests()
        try tests.use(MemoryResidueTests.ascii, suffix: [])
        for needle in tests.needles(MemoryResidueTests.ascii) { try ProcessMemory.expectGone(needle) }
      }
    }
  }

  @Test("A passphrase that was normalised leaves no copy")
  func normalised() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let tests = MemoryResidueTests()
        let text = MemoryResidueTests.ascii.map { $0 ^ 1 }
        // "a" and a combining diaeresis.
        try tests.use(text, suffix: [0x61, 0xCC, 0x88])
        for needle in tests.needles(text) { try ProcessMemory.expectGone(needle) }
      }
    }
  }

  @Test("The search finds a passphrase that is there")
  func searchWorks() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let tests = MemoryResidueTests()
        let text = MemoryResidueTests.ascii.map { $0 ^ 2 }
        let needle = tests.needles(text)[0]
        try ProcessMemory.expectGone(needle)
        let secret = tests.unmasked(text, suffix: [])
        let places = try ProcessMemory.places(of: needle)
        #expect(places.count >= 2)
        let byteCount = secret.count
        #expect(byteCount == text.count)
      }
    }
  }

  /// Eight bytes from either end of the text, forward and in reverse.
  private func needles(_ masked: [UInt8]) -> [Needle] {
    [masked, masked.reversed()].map { text in
      let ends = unmasked(Array(text.prefix(8) + text.suffix(8)), suffix: [])
      return ends.withBytes { Needle($0) }
    }
  }

  private func use(_ masked: [UInt8], suffix: [UInt8]) throws {
    let passphrase = try Passphrase(utf8: unmasked(masked, suffix: suffix))
    for policy in PassphrasePolicy.allCases { #expect(policy.check(passphrase).score >= 3) }
  }

  private func unmasked(_ masked: [UInt8], suffix: [UInt8]) -> SecretBytes {
    SecretBytes(byteCount: masked.count + suffix.count) { target in
      for (offset, byte) in masked.enumerated() {
        target.storeBytes(of: byte ^ 0x55, toByteOffset: offset, as: UInt8.self)
      }
      for (offset, byte) in suffix.enumerated() {
        target.storeBytes(of: byte, toByteOffset: masked.count + offset, as: UInt8.self)
      }
    }
  }
}
