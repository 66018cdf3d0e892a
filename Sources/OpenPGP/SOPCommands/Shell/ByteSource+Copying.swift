// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP

extension ByteSource {
  /// Lends everything up to the end, piece by piece.
  func forEachPiece(_ body: (RawSpan) throws(OpenPGPError) -> Void) throws(OpenPGPError) {
    while true {
      let count = try withNext { (next) throws(OpenPGPError) -> Int in
        if !next.isEmpty { try body(next) }
        return next.byteCount
      }
      if count == 0 { return }
      consume(count)
    }
  }

  /// Reads to the end and keeps nothing.
  func drain() throws(OpenPGPError) { try forEachPiece { (_) throws(OpenPGPError) in } }

  /// Writes everything up to the end.
  func copy(to sink: any ByteSink) throws(OpenPGPError) {
    try forEachPiece { (piece) throws(OpenPGPError) in try sink.write(piece) }
  }

  /// The type in the header of a packet with which the source begins; nil for an empty one. Nothing is consumed.
  func firstPacketType() throws(OpenPGPError) -> PacketType? {
    try withNext { (next) throws(OpenPGPError) -> PacketType? in
      guard !next.isEmpty else { return nil }
      let octet = unsafe next.unsafeLoad(as: UInt8.self)
      return PacketType(rawValue: octet & 0x40 != 0 ? octet & 0x3F : octet >> 2 & 0x0F)
    }
  }
}
