// SPDX-License-Identifier: Apache-2.0
//
// The reference to a counter in a chip (Specs/enclaves.md, "Counters"):
//
//   kind (1) ‖ place of the storage root key (1) ‖ its Name (34) ‖ index (4) ‖ Name of the index (34)

internal import Primitives
internal import Secrets

/// A reference to a counter in a chip, which only goes up.
public struct ChipCounter: Equatable, Sendable {
  /// Where the storage root key was; the number of a place as in a handle.
  let rootPlace: UInt8
  /// The Name of the storage root key, which tells this chip from another.
  let rootName: [UInt8]
  let index: UInt32
  /// The Name of the index, which tells this counter from another at the same index.
  let name: [UInt8]

  /// Bytes of ``dataRepresentation``.
  public static let byteCount = 1 + 1 + nameByteCount + 4 + nameByteCount
  private static let nameByteCount = 2 + SHA256.byteCount
  private static let rootPlaces: ClosedRange<UInt8> = 1...2
  /// The indexes that a chip's owner defines (TCG Registry of Reserved TPM 2.0 Handles, section 2.2).
  static let indexes: ClosedRange<UInt32> = 0x0180_0000...0x01BF_FFFF

  init(rootPlace: UInt8, rootName: [UInt8], index: UInt32, name: [UInt8]) {
    self.rootPlace = rootPlace
    self.rootName = rootName
    self.index = index
    self.name = name
  }

  /// Reads a ``dataRepresentation``. The chip is not asked.
  /// - Throws: `EnclaveError.corrupt`; `.wrongKind` for a counter of another kind of enclave.
  public init(dataRepresentation bytes: [UInt8]) throws(EnclaveError) {
    guard bytes.count == Self.byteCount else { throw .corrupt }
    guard bytes[0] == EnclaveKind.tpm.rawValue else {
      throw EnclaveKind(rawValue: bytes[0]) == nil ? .corrupt : .wrongKind
    }
    let span = bytes.rawSpan
    var cursor = ByteCursor()
    do {
      _ = try cursor.readByte(span)
      rootPlace = try cursor.readByte(span)
      rootName = try cursor.readBytes(span, count: Self.nameByteCount)
      index = UInt32(try cursor.readUInt32(span))
      name = try cursor.readBytes(span, count: Self.nameByteCount)
    } catch {
      throw .corrupt
    }
    guard Self.rootPlaces.contains(rootPlace), Self.indexes.contains(index) else { throw .corrupt }
  }

  /// The bytes to store. They are not secret, but store them sealed, so that nobody can exchange them.
  public var dataRepresentation: [UInt8] {
    var bytes = [EnclaveKind.tpm.rawValue, rootPlace] + rootName
    bytes.append(bigEndian: index)
    return bytes + name
  }
}
