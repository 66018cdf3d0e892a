// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 4.3: what this engine cannot read, and what somebody else may need.

/// A packet of a certificate that this engine cannot read, as it came: of an unknown version, or of a type
/// that nobody need know.
public struct OpaquePacket: Hashable, Sendable {
  public let type: PacketType
  public let body: [UInt8]

  init(_ type: PacketType, body: [UInt8]) {
    self.type = type
    self.body = body
  }
}
