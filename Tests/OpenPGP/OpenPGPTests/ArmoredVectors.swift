// SPDX-License-Identifier: Apache-2.0
//
// The packets of armored vectors, read without the engine's own armor.

import Foundation
import TestVectors
import Testing

@testable import OpenPGP

extension VectorFiles {
  /// The packets of an armored file, or of a binary one.
  static func packets(_ path: String) throws -> [Packet] {
    let contents = try contents(path)
    let reader = PacketReader(MemorySource(try binary(contents)))
    var packets: [Packet] = []
    while let packet = try reader.nextPacket() { packets.append(packet) }
    return packets
  }

  /// What the first armor in `contents` holds; `contents` itself when there is none.
  private static func binary(_ contents: [UInt8]) throws -> [UInt8] {
    guard contents.first ?? 0 < 0x80 else { return contents }
    let lines = String(decoding: contents, as: UTF8.self).split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    let start = try #require(lines.firstIndex { $0.hasPrefix("-----BEGIN PGP") })
    let body = lines[(start + 1)...].drop { $0.contains(":") }
    let text = body.prefix { !$0.hasPrefix("=") && !$0.hasPrefix("-----END") }.joined()
    return [UInt8](try #require(Data(base64Encoded: text, options: .ignoreUnknownCharacters)))
  }
}
