// SPDX-License-Identifier: Apache-2.0
//
// What the shell of the command reads of secrets and writes of them may not stay behind.

import Foundation
import Glibc
import MemorySearch
import OpenPGP
import Primitives
import Secrets
import Testing

@testable import SOPCommands

@Suite
struct SecretLeftoverTests {
  @Test("A password that was read, trimmed and tried does not remain in memory")
  func password() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let fixture = try SOPFixture()
        let needle = try SecretLeftoverTests.usePassword(fixture.folder.appending(path: "password").path())
        try ProcessMemory.expectGone(needle)
      }
    }
  }

  @Test("Neither a session key that was read and written, nor its text, remains in memory")
  func sessionKey() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let fixture = try SOPFixture()
        let paths = ["in", "out"].map { fixture.folder.appending(path: $0).path() }
        let (key, text) = try SecretLeftoverTests.useSessionKey(paths[0], paths[1])
        try ProcessMemory.expectGone(key)
        try ProcessMemory.expectGone(text)
        #expect(try fixture.contents("in") == (try fixture.contents("out")))
      }
    }
  }

  @inline(never)
  private static func usePassword(_ path: String) throws -> Needle {
    let text = randomDigits(count: 64)
    try write(text, [0x20, 0x0A], to: path)
    let password = try Password(path)
    #expect(password.candidates.map(\.count) == [64, 66])
    let isSame = try password.new().withBytes { new in text.withBytes { constantTimeEqual($0, new) } }
    #expect(isSame)
    return text.withBytes { Needle($0) }
  }

  @inline(never)
  private static func useSessionKey(_ input: String, _ output: String) throws -> (key: Needle, text: Needle) {
    let digits = randomDigits(count: 64)
    let head = Array("9:".utf8)
    var text = SecretBytes(zeroed: 66)
    text.withMutableBytes { output in
      output.copy(head.span.bytes, to: 0)
      digits.withBytes { output.copy($0, to: 2) }
    }
    try write(text, [], to: input)
    let key = try SessionKeyText.read(input)
    #expect(key.cipher == .aes256)
    let destination = try OutputDesignator(output)
    try SessionKeyText.write(key, to: destination)
    try destination.finish()
    return (key.bytes.withBytes { Needle($0) }, digits.withBytes { Needle($0) })
  }

  /// Hexadecimal digits in capitals.
  private static func randomDigits(count: Int) -> SecretBytes {
    var digits = SystemRandom.secretBytes(count: count)
    let alphabet = Array("0123456789ABCDEF".utf8)
    digits.withMutableBytes { bytes in
      for offset in 0..<count {
        let value = bytes.bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        bytes.storeBytes(of: alphabet[Int(value & 15)], toByteOffset: offset, as: UInt8.self)
      }
    }
    return digits
  }

  /// Straight from memory for secrets to the file.
  private static func write(_ text: borrowing SecretBytes, _ end: [UInt8], to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let count = text.withBytes { bytes in
      bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
    #expect(count == text.count)
    #expect(Glibc.write(descriptor, end, end.count) == end.count)
  }
}
