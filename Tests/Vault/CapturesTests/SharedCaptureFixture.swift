// SPDX-License-Identifier: Apache-2.0
//
// Two devices of one account, without the account: what one hands out, the other takes within a transaction on another
// part of its file. First parts that no honest device writes are made here too.

import Foundation
import Keychains
import Primitives
import Secrets
import Storage

@testable import Captures

extension CaptureFixture {
  /// Makes changes as a synchronisation does.
  @discardableResult
  func apply(_ changes: [SharedChange], to store: CaptureStore? = nil) throws -> [UInt8] {
    let store = store ?? self.store
    try store.prepareSharing()
    let (digest, blobs) = try store.file.write(.messages) { try store.apply(changes, joining: $0) }
    store.removeBlobs(blobs)
    return digest
  }

  /// Takes a capture of another device, without its stream.
  func receive(_ id: CaptureID, from other: CaptureFixture, label: CaptureLabel = CaptureLabel()) throws {
    let sent = try other.store.shared(id).bytes.withBytes { SharedCapture($0) }
    guard let sent else { throw CaptureError.corrupt(nil) }
    try apply([.insert(sent, label)])
  }

  func stream(of id: CaptureID) throws -> [UInt8] {
    let count = try store.shared(id).streamByteCount
    return try store.stream(of: id, 0..<count).withBytes { Array(copying: $0) }
  }

  /// Bytes of all parts that are here, as the state has them.
  var storedByteCount: Int {
    get throws { try file.read { try CaptureState.load($0, keys: store.keys()).byteCount } }
  }

  func row(_ id: CaptureID) throws -> SharedRow? { try store.sharedRows().first { $0.id == id } }
}

extension CaptureStore {
  /// Makes one capture whole.
  func fill(_ id: CaptureID, from piece: () throws -> SharedSecretBytes?) throws {
    try filling { try $0.add(id, from: piece) }
  }
}

/// Hands out a stream in pieces of these sizes, again and again from the first; a size of 0 is an empty piece.
func pieces(_ stream: [UInt8], _ sizes: [Int]) -> () throws -> SharedSecretBytes? {
  var offset = 0
  var number = 0
  return {
    guard offset < stream.count else { return nil }
    let end = min(stream.count, offset + sizes[number % sizes.count])
    defer { (offset, number) = (end, number + 1) }
    return SharedSecretBytes(SecretBytes(copying: stream.span.bytes.extracting(offset..<end)))
  }
}

/// A first part of any fields; as it is made, a good one.
struct FirstPart {
  struct Part {
    var number: UInt8
    var byteCount: Int64
    var hash: [UInt8]
    var bytes: [UInt8]

    init(_ part: CapturePart, _ content: [UInt8]) {
      number = part.rawValue
      byteCount = Int64(content.count)
      hash = SHA256.hash(content.span.bytes)
      bytes = content.count <= 65_536 ? content : []
    }
  }

  var version: UInt8 = 1
  var id = CaptureID()
  var created: Int64 = 1_759_536_000
  var parts: [Part]

  /// Parts that are signed, and the signature.
  init(_ content: [CapturePart: [UInt8]], signer: TestSigner = TestSigner()) throws {
    parts = content.sorted { $0.key.rawValue < $1.key.rawValue }.map { Part($0.key, $0.value) }
    try sign(signer)
  }

  /// Sets manifest and assertion for the parts, the id and the time that it has now.
  mutating func sign(_ signer: any CaptureSigner, id: CaptureID? = nil, created: Int64? = nil) throws {
    parts.removeAll { $0.number > 4 }
    let entries = parts.map {
      PartEntry(
        part: CapturePart(rawValue: $0.number) ?? .photo, byteCount: Int($0.byteCount), hash: $0.hash,
        place: .row)
    }
    let manifest = CaptureManifest(
      id ?? self.id, created: created ?? self.created, signer: signer, parts: entries
    ).bytes
    parts.append(Part(.manifest, manifest))
    parts.append(
      Part(.assertion, signer.publicKey + (try signer.sign(digest: SHA256.hash(manifest.span.bytes)))))
  }

  var bytes: [UInt8] {
    var bytes = [version]
    id.withBytes { bytes.append($0) }
    bytes.append(bigEndian: created)
    bytes.append(UInt8(parts.count))
    for part in parts {
      bytes.append(part.number)
      bytes.append(bigEndian: part.byteCount)
      bytes += part.hash + part.bytes
    }
    return bytes
  }

  /// What a reader makes of it.
  var read: SharedCapture? { sharedCapture(bytes) }
}

func sharedCapture(_ bytes: [UInt8]) -> SharedCapture? { SharedCapture(bytes.span.bytes) }
