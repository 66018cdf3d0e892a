// SPDX-License-Identifier: Apache-2.0
//
// Judging a passphrase goes through two C libraries. These tests search the whole memory of the process
// afterwards. What is searched for is kept masked, so that the search does not find itself.

import Foundation
import Keychains
import Secrets
import Testing

@Suite("What passphrases leave in memory", .serialized)
struct MemoryResidueTests {
  /// Each byte of the text, exclusive-or 0x55: letters, digits and symbols, then a composed and a
  /// decomposed letter for the normalisation.
  private static let ascii: [UInt8] = [
    3, 45, 98, 116, 56, 4, 47, 118, 37, 57, 58, 108, 30, 49, 10, 33, 2, 39, 97,
  ]

  @Test("A passphrase that was checked leaves no copy, forward or in reverse")
  func checked() throws {
    try use(Self.ascii, suffix: [])
    #expect(try places(of: Self.ascii) == 0)
  }

  @Test("A passphrase that was normalised leaves no copy")
  func normalised() throws {
    let text = Self.ascii.map { $0 ^ 1 }
    // "a" and a combining diaeresis.
    try use(text, suffix: [0x61, 0xCC, 0x88])
    #expect(try places(of: text) == 0)
  }

  @Test("The search finds a passphrase that is there")
  func searchWorks() throws {
    let text = Self.ascii.map { $0 ^ 2 }
    let secret = unmasked(text, suffix: [])
    #expect(try places(of: text) >= 1)
    let byteCount = secret.count
    #expect(byteCount == text.count)
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

  /// How often a window of eight bytes from either end of the text stands in writable memory.
  private func places(of masked: [UInt8]) throws -> Int {
    let table = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/maps")).readToEnd() ?? Data()
    let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
    #expect(memory >= 0)
    defer { close(memory) }
    let windows = [masked, masked.reversed()].flatMap { [Array($0.prefix(8)), Array($0.suffix(8))] }
    var count = 0
    for line in String(decoding: table, as: UTF8.self).split(separator: "\n") where line.contains(" rw") {
      let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { Int($0, radix: 16) }
      guard range.count == 2, range[1] - range[0] < largestMapping else { continue }
      count += try occurrences(of: windows, in: memory, at: range[0], count: range[1] - range[0])
    }
    return count
  }

  private func occurrences(of windows: [[UInt8]], in file: Int32, at start: Int, count: Int) throws -> Int {
    // Pages of its own, given back at once: a copy that stays would be found by the next search.
    guard let pages = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      pages != MAP_FAILED
    else { throw POSIXError(.ENOMEM) }
    defer { munmap(pages, count) }
    let got = pread(file, pages, count, start)
    guard got > 0 else { return 0 }
    let bytes = pages.assumingMemoryBound(to: UInt8.self)
    var found = 0
    for window in windows {
      let first = Int32(window[0] ^ 0x55)
      var offset = 0
      while offset <= got - window.count,
        let hit = memchr(bytes + offset, first, got - window.count + 1 - offset)
      {
        offset = hit - UnsafeMutableRawPointer(bytes) + 1
        if (1..<window.count).allSatisfy({ bytes[offset - 1 + $0] == window[$0] ^ 0x55 }) { found += 1 }
      }
    }
    return found
  }

  /// Address space that a library reserved and does not use is not read.
  private let largestMapping = 256 << 20
}
