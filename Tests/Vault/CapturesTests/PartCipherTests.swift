// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
import Testing

@testable import Captures

@Suite("Parts as whole values")
struct PartCipherTests {
  private let keyBytes: [UInt8] = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
  private let id = CaptureID()

  private func wholeParts(_ id: CaptureID? = nil, _ bytes: [UInt8]? = nil) throws -> WholeParts {
    let bytes = bytes ?? keyBytes
    return WholeParts(captureKey: try SymmetricKey(copying: bytes.span.bytes), id: id ?? self.id)
  }

  @Test(
    "What was sealed comes back exactly, and no two seals are alike",
    arguments: [0, 1, 65_536, 262_143, 262_144, 262_145, 600_000])
  func roundTrip(byteCount: Int) throws {
    let content = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    var parts = try wholeParts()
    let sealed = try parts.encrypt(content, as: .photo)
    #expect(try parts.decrypt(sealed, as: .photo) == content)
    #expect(try parts.encrypt(content, as: .photo) != sealed)
  }

  @Test("Another part, another capture, another key, a changed, missing or further byte: not what was sealed")
  func bound() throws {
    var parts = try wholeParts()
    let sealed = try parts.encrypt(Data(repeating: 7, count: 300_000), as: .photo)
    #expect(throws: CaptureError.corrupt(.depth)) { try parts.decrypt(sealed, as: .depth) }
    var otherCapture = try wholeParts(CaptureID())
    #expect(throws: CaptureError.corrupt(.photo)) { try otherCapture.decrypt(sealed, as: .photo) }
    var otherKey = try wholeParts(id, [UInt8](repeating: 1, count: 32))
    #expect(throws: CaptureError.corrupt(.photo)) { try otherKey.decrypt(sealed, as: .photo) }
    for offset in [0, 12, 150_000, 262_172, sealed.count - 1] {
      var changed = sealed
      changed[offset] ^= 1
      #expect(throws: CaptureError.corrupt(.photo)) { try parts.decrypt(changed, as: .photo) }
    }
    for changed in [Data(), sealed.dropLast(), sealed + [0], Data(sealed.prefix(262_172))] {
      #expect(throws: CaptureError.corrupt(.photo)) { try parts.decrypt(Data(changed), as: .photo) }
    }
  }
}
