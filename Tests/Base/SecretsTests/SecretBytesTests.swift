// SPDX-License-Identifier: Apache-2.0
//
// Secrets in memory: that they start empty, end erased, and lie where the system neither swaps, dumps
// nor copies them. These tests look at the memory itself.

import Foundation
import Testing

@testable import Secrets

@Suite("Secret bytes")
struct SecretBytesTests {
  @Test("A new secret is zero, whatever its size", arguments: [1, 32, 33, 4096, 4097, 100_000])
  func startsZero(byteCount: Int) {
    var secret = SecretBytes(zeroed: byteCount)
    let seen5 = secret.count
    #expect(seen5 == byteCount)
    let seen1 = contents(secret)
    #expect(seen1.allSatisfy { $0 == 0 })
    secret.withMutableBytes { span in
      for offset in 0..<byteCount { span.storeBytes(of: 0xA5, toByteOffset: offset, as: UInt8.self) }
    }
    let seen2 = contents(secret)
    #expect(seen2.allSatisfy { $0 == 0xA5 })
  }

  // No other test takes cells of this size class, so the freed cell stays untouched while we look.
  @Test("Releasing a secret erases it")
  func releaseErases() {
    let byteCount = 2000
    let address: Int
    do {
      var secret = SecretBytes(zeroed: byteCount)
      address = fill(&secret, with: 0x5A)
      #expect(memory(at: address, byteCount).allSatisfy { $0 == 0x5A })
    }
    #expect(memory(at: address, byteCount).allSatisfy { $0 == 0 })
  }

  @Test("Shortening a secret erases what is cut off, and nothing else")
  func shortenErases() {
    var secret = SecretBytes(zeroed: 64)
    let address = fill(&secret, with: 0x77)
    secret.shorten(to: 10)
    let seen6 = secret.count
    #expect(seen6 == 10)
    #expect(memory(at: address, 10).allSatisfy { $0 == 0x77 })
    #expect(memory(at: address + 10, 54).allSatisfy { $0 == 0 })
  }

  @Test("A secret that could not be filled is erased and the error comes through")
  func failedFill() {
    struct Refusal: Error {}
    #expect(throws: Refusal.self) {
      let secret = try SecretBytes(byteCount: 16) { (_) throws(Refusal) in throw Refusal() }
      Issue.record("made a secret of \(secret.count) bytes")
    }
  }

  @Test("Equality sees every byte and the length")
  func equality() {
    let words: [UInt8] = [1, 2, 3, 4]
    #expect(areEqual(words, words))
    for offset in words.indices {
      var other = words
      other[offset] ^= 0x80
      #expect(!areEqual(words, other))
    }
    #expect(!areEqual(words, [1, 2, 3]))
    #expect(areEqual([], []))
  }

  @Test("A copy is independent of its source")
  func duplicates() {
    var secret = SecretBytes(zeroed: 8)
    fill(&secret, with: 1)
    var copy = secret.duplicate()
    fill(&copy, with: 2)
    let seen3 = contents(secret)
    #expect(seen3 == Array(repeating: 1, count: 8))
  }

  @Test("A shared secret lends the same bytes to every owner")
  func shared() {
    let one = SharedSecretBytes(SecretBytes(copying: [UInt8(7), 8].span.bytes))
    let two = one
    #expect(two.count == 2)
    #expect(two.withBytes { $0.withUnsafeBytes { Array($0) } } == [7, 8])
  }

  @Test(
    "Pages of secrets are locked, left out of core dumps and wiped on fork",
    arguments: [16, 4096, 40_000, SecretMemory.lockedByteCountLimit])
  func pageFlags(byteCount: Int) throws {
    let secret = SecretBytes(zeroed: byteCount)
    let flags = try mappingFlags(of: address(of: secret))
    #expect(flags.contains("dd"), "not left out of core dumps")
    #expect(flags.contains("wf"), "not wiped on fork")
    // Whatever the memory says of itself: where a test may lock as much, it has to.
    if try lockingShows(byteCount) {
      #expect(flags.contains("lo"), "not locked")
      #expect(SecretMemory.isLocked)
    }
    let seen7 = secret.count
    #expect(seen7 == byteCount)
  }

  @Test("A secret too large to lock is still left out of core dumps")
  func largeSecret() throws {
    let secret = SecretBytes(zeroed: SecretMemory.lockedByteCountLimit + 1)
    let flags = try mappingFlags(of: address(of: secret))
    #expect(flags.contains("dd"))
    #expect(!flags.contains("lo"))
    let seen8 = secret.count
    #expect(seen8 > SecretMemory.lockedByteCountLimit)
  }

  @Test("A forked child finds zeros")
  func forkWipes() {
    var secret = SecretBytes(zeroed: 32)
    let place = fill(&secret, with: 0x3C)
    let status = inChild {
      UnsafePointer<UInt8>(bitPattern: place)?.pointee == 0 ? 0 : 1
    }
    #expect(status == 0)
    let seen4 = contents(secret)
    #expect(seen4.first == 0x3C)
  }

  @Test("Reading past the pages of a secret ends the process", arguments: [-1, 8192])
  func guardPages(offset: Int) {
    let secret = SecretBytes(zeroed: 8192)
    let place = address(of: secret) + offset
    let status = inChild {
      signal(SIGSEGV, SIG_DFL)
      return Int32(UnsafePointer<UInt8>(bitPattern: place)?.pointee ?? 0)
    }
    #expect(status & 0x7F == SIGSEGV)
    let seen9 = secret.count
    #expect(seen9 == 8192)
  }

  // MARK: Looking at memory

  private func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    SecretBytes(copying: left.span.bytes).isEqual(to: SecretBytes(copying: right.span.bytes))
  }

  private func contents(_ secret: borrowing SecretBytes) -> [UInt8] {
    secret.withBytes { $0.withUnsafeBytes { Array($0) } }
  }

  private func address(of secret: borrowing SecretBytes) -> Int {
    secret.withBytes { $0.withUnsafeBytes { Int(bitPattern: $0.baseAddress) } }
  }

  @discardableResult
  private func fill(_ secret: inout SecretBytes, with value: UInt8) -> Int {
    secret.withMutableBytes { span in
      for offset in 0..<span.byteCount { span.storeBytes(of: value, toByteOffset: offset, as: UInt8.self) }
    }
    return address(of: secret)
  }

  private func memory(at address: Int, _ count: Int) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count))
  }

  /// The `VmFlags` of the mapping that holds `address`.
  private func mappingFlags(of address: Int) throws -> [String] {
    var isInside = false
    let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/smaps"))
    let table = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    for line in table.split(separator: "\n") {
      let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { Int($0, radix: 16) }
      if range.count == 2 { isInside = range[0] <= address && address < range[1] }
      if isInside && line.hasPrefix("VmFlags:") {
        return line.split(separator: " ").dropFirst().map(String.init)
      }
    }
    return []
  }

  /// Whether so many bytes can be locked, and are shown as locked. The sanitizers turn mlock into nothing.
  private func lockingShows(_ byteCount: Int) throws -> Bool {
    let pages = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let pages, pages != MAP_FAILED else { return false }
    defer { munmap(pages, byteCount) }
    return try mlock(pages, byteCount) == 0 && mappingFlags(of: Int(bitPattern: pages)).contains("lo")
  }

  /// The wait status of a forked child that runs `body` and leaves.
  private func inChild(_ body: () -> Int32) -> Int32 {
    let child = fork()
    if child == 0 { _exit(body()) }
    var status: Int32 = -1
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    return status
  }
}
