// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2.5 and 10.4: a detached signature is a sequence of signature packets. One that cannot
// be used never spoils the others.

/// The signatures of a detached signature.
public struct SignatureList: Sendable {
  public private(set) var signatures: [Signature] = []
  /// Broken packets: each counts as a bad signature.
  public private(set) var malformedCount = 0
  /// Signatures of unknown versions, which were passed over.
  public private(set) var unknownVersionCount = 0
  private var subpacketByteCount = 0

  /// Signatures that are there already.
  public init(_ signatures: [Signature]) { self.signatures = signatures }

  /// Reads the packets of `source`, which is not armored, to its end, or to where they can no longer be told
  /// apart.
  /// - Throws: ``OpenPGPError/malformed(_:)`` when there are other packets than signatures, as in a
  ///   certificate; ``OpenPGPError/overLimit(_:)`` for more than ``Limits/signatureCount`` packets, or more of
  ///   subpackets than ``Limits/subpacketByteCount``; the source's own errors.
  public init(reading source: any ByteSource) throws(OpenPGPError) {
    let reader = PacketReader(source)
    var count = 0
    while let packet = try next(reader) {
      count += 1
      guard count <= Limits.signatureCount else { throw .overLimit(.signatureCount) }
      try take(packet)
    }
  }

  private mutating func take(_ packet: Packet) throws(OpenPGPError) {
    switch packet {
    case .signature(let signature):
      subpacketByteCount += signature.areasByteCount
      guard subpacketByteCount <= Limits.subpacketByteCount else { throw .overLimit(.subpacketByteCount) }
      signatures.append(signature)
    case .marker, .padding, .trust: break
    case .unknown(.signature, _, why: .unsupported): unknownVersionCount += 1
    case .unknown(let type, _, why: .unsupported) where !type.isCritical: break
    case .unknown(.signature, _, _), .unknown(.marker, _, _): malformedCount += 1
    default: throw .malformed(.signature)
    }
  }

  /// The next packet that can be read; nil at the end.
  private mutating func next(_ reader: PacketReader) throws(OpenPGPError) -> Packet? {
    for _ in 0...Limits.signatureCount {
      do {
        return try reader.nextPacket()
      } catch .overLimit(.packetByteCount) {
        malformedCount += 1
      } catch .malformed(.armor) {
        // The source's own: what is cut off or broken there is nothing of a packet.
        throw .malformed(.armor)
      } catch .malformed {
        malformedCount += 1
        return nil
      } catch {
        throw error
      }
    }
    throw .overLimit(.signatureCount)
  }
}
