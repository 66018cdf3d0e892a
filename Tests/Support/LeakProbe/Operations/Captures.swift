// SPDX-License-Identifier: Apache-2.0
//
// Captures: a photo in a file and chunks, metadata in a row. The photo that comes in and what is exported
// are plain and stand in a folder that is not searched.

import Captures
import CofferKit
import Glibc
import Keychains
import Primitives
import Secrets

extension Operation {
  static let captures = [
    Operation("add a capture") { workspace in
      try workspace.withCapture { _, _ in }
    },
    Operation("add a capture that is there already") { workspace in
      try workspace.withCapture { coffer, _ in
        let again = NewCapture(photo: try PartSource(path: workspace.photoPath, for: .photo))
        try expectThrow("the same photo again") {
          _ = try coffer.captures.add(again, signer: coffer.captureAccess.signer())
        }
      }
    },
    Operation("verify a capture") { workspace in
      try workspace.withCapture { coffer, id in _ = try coffer.captures.verify(id) }
    },
    Operation("show a capture") { workspace in
      try workspace.withCapture { coffer, id in
        _ = try coffer.captures.info(id)
        try coffer.captures.withPart(.photo, of: id) { $0.byteCount > 0 }
        try coffer.captures.withPart(.metadata, of: id) { $0.byteCount > 0 }
        _ = try coffer.captures.exifFields(of: id)
      }
    },
    Operation("export a capture") { workspace in
      try workspace.withCapture { coffer, id in
        try expect(try coffer.captures.export(id, to: workspace.given + "/out").count >= 6, "all was written")
      }
    },
    Operation("remove a capture") { workspace in
      try workspace.withCapture { coffer, id in try coffer.captures.remove(id) }
    },
    Operation("verify a damaged capture") { workspace in
      let passphrase = try workspace.passphrase()
      let id = try workspace.makeCapture(passphrase)
      try workspace.damageBlobs()
      try workspace.withCoffer(passphrase) { coffer in
        try expectThrow("a damaged capture") { _ = try coffer.captures.verify(id) }
        try expectThrow("a damaged export") {
          _ = try coffer.captures.export(id, to: workspace.given + "/out")
        }
      }
    },
    Operation("a capture while the coffer is locked") { workspace in
      let passphrase = try workspace.passphrase()
      let id = try workspace.makeCapture(passphrase)
      let keys = try workspace.classKeys(passphrase).locked()
      let access = try LockedCoffer(home: workspace.home, machine: workspace.machine).captures(keys)
      _ = try access.store.verify(id)
      access.store.clearCache()
    },
  ]
}

extension Workspace {
  var photoPath: String { given + "/photo.bin" }

  /// Makes a coffer with a capture, and lends it.
  @inline(never)
  fileprivate func withCapture(_ body: (Coffer, CaptureID) throws -> Void) throws {
    let passphrase = try passphrase()
    let id = try makeCapture(passphrase)
    try withCoffer(passphrase) { try body($0, id) }
  }

  /// Makes a coffer with a capture; closes it and tells of the capture and its keys.
  @inline(never)
  fileprivate func makeCapture(_ passphrase: borrowing Passphrase) throws -> CaptureID {
    try makeCoffer(passphrase)
    try writePhoto()
    var id: CaptureID?
    try withCoffer(passphrase) { coffer in
      // {"x":"…"}
      let words = text("capture metadata", byteCount: 48)
      let metadata = Self.joined(words, Array("\"}".utf8), prefix: Array("{\"x\":\"".utf8))
      let capture = NewCapture(
        photo: try PartSource(path: photoPath, for: .photo), metadata: PartSource(metadata))
      id = try coffer.captures.add(capture, signer: coffer.captureAccess.signer()).id
    }
    guard let id else { throw Unexpected("no capture") }
    try withCoffer(passphrase) { try tellCaptureKeys($0, id) }
    return id
  }

  /// A photo of several chunks with the same secret bytes all over it.
  private func writePhoto() throws {
    let piece = bytes("photo", count: 64)
    let descriptor = Glibc.open(photoPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Unexpected("a photo could not be made") }
    defer { close(descriptor) }
    for _ in 0..<6_000 {
      let count = piece.withBytes { $0.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } }
      try expect(count == piece.count, "a photo is written")
    }
  }

  /// Tells of the capture key, and of what is derived from it (Specs/captures.md, "Keys").
  private func tellCaptureKeys(_ coffer: Coffer, _ id: CaptureID) throws {
    let key = try coffer.keychain.requireSecret(forKey: KeychainService.Account.captureKey)
    SecretReport.tell("capture key", key)
    tellDerived("record key", from: key, salt: [], "coffer capture v1 records")
    tellDerived("mark key", from: key, salt: [], "coffer capture v1 marks")
    let salt = id.withBytes { [UInt8](copying: $0) }
    tellDerived("part key", from: key, salt: salt, "coffer capture v1 parts")
  }
}
