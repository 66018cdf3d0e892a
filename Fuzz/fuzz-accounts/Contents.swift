// SPDX-License-Identifier: Apache-2.0
//
// What members of an account seal into packs (Specs/local-history.md, "Contents"; Specs/captures.md, "Sharing"), and the
// state that a device keeps itself.

import MessageFormats
import Primitives
import Secrets

@testable import Captures
@testable import Histories
@testable import Syncing

/// What the row of the table has, and the local state in it. Its lists may come in any order, and are written in one.
func checkLocalState(_ bytes: [UInt8]) {
  if let stored = SyncState(bytes.span.bytes), stored.bytes != bytes {
    fatalError("a stored state is written differently")
  }
  guard let state = try? LocalState(bytes) else { return }
  let written = state.bytes()
  guard let again = try? LocalState(written), again.bytes() == written else {
    fatalError("a local state is read as another")
  }
}

/// A message and a label, in one part each.
func checkContent(_ bytes: [UInt8]) {
  let part = SharedSecretBytes(SecretBytes(copying: bytes.span.bytes))
  if let sent = SentFrame([part]) {
    let again = sent.frame.withBytes { SentFrame.parts(row: sent.row, frame: $0) }
    guard again.hashes == [FrameHash(hashing: part)] else { fatalError("a message is sent differently") }
  }
  if let label = SentLabel(bytes.span.bytes) {
    guard label.bytes.withBytes({ [UInt8](copying: $0) }) == bytes else {
      fatalError("a label is sent differently")
    }
  }
}

/// The first part of a capture; its hashes are put right, which no input finds by trying.
func checkFirstPart(_ bytes: [UInt8]) {
  var bytes = bytes
  var offset = SharedCapture.headByteCount
  while offset + SharedCapture.fieldsByteCount <= bytes.count {
    let start = offset + SharedCapture.fieldsByteCount
    let count = bytes[offset + 1..<offset + 9].reduce(0) { $0 << 8 | UInt64($1) }
    offset = start
    guard count <= PartEntry.rowByteCountLimit, start + Int(count) <= bytes.count else { continue }
    offset += Int(count)
    bytes.replaceSubrange(start - 32..<start, with: SHA256.hash(bytes[start..<offset].span.bytes))
  }
  guard let capture = SharedCapture(bytes.span.bytes) else { return }
  guard capture.byteCount >= 0, capture.bytes.withBytes({ [UInt8](copying: $0) }) == bytes else {
    fatalError("a capture is written differently")
  }
}

func checkManifest(_ bytes: [UInt8]) {
  if JSONObject.isWellFormed(bytes.span.bytes),
    bytes.first(where: { !" \t\r\n".utf8.contains($0) }) != UInt8(ascii: "{")
  {
    fatalError("metadata is not an object")
  }
  guard let manifest = CaptureManifest(bytes) else { return }
  guard manifest.bytes == bytes else { fatalError("a manifest is written differently") }
  _ = manifest.isSigned(by: manifest.bytes)
}
