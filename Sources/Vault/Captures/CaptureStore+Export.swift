// SPDX-License-Identifier: Apache-2.0
//
// Exports a capture: its parts bit for bit, and the files needed to check them with other programs.

internal import Foundation
internal import Glibc
public import MessageFormats
public import Primitives
internal import Secrets

extension CaptureStore {
  /// Writes a capture to a new or empty folder. Files have mode 0600 and are synchronised. They get their names
  /// once all of them are complete; after a failure no file is left.
  ///
  /// - Parameters:
  ///   - id: the capture.
  ///   - folder: the folder to write to.
  ///   - record: notes the temporary names of files, on file systems where files need one.
  ///   - isStopped: asked before each piece; true ends the export with `CaptureError.interrupted`.
  /// - Returns: the names of the files, in the order in which they were written.
  /// - Throws: `CaptureError.corrupt` naming the part, `.elsewhere`, `.badSignature`, `.alreadyExists`, `.cannotWrite`.
  public func export(
    _ id: CaptureID, to folder: String, record: (any UnfinishedExportRecord)? = nil,
    isStopped: () -> Bool = { false }
  ) throws -> [String] {
    _ = try verify(id, isStopped: isStopped)
    let (row, keys) = try found(id)
    let output = try ExportFolder(folder, record)
    var sums = ""
    for entry in row.record.parts where CapturePart.signed.contains(entry.part) {
      let kind = try fileKind(entry, row, keys: keys)
      let name = entry.part.name + kind
      try output.write(name) { write in
        try open(entry, row, keys: keys) {
          if isStopped() { throw CaptureError.interrupted }
          try write($0)
          return true
        }
      }
      sums += "\(Hexadecimal.text(entry.hash))  \(name)\n"
    }
    let assertion = try small(.assertion, row, keys: keys)
    let publicKey = Array(assertion[..<P256.publicKeyByteCount])
    try output.write("manifest.json", try small(.manifest, row, keys: keys))
    try output.write("assertion.der", Array(assertion[P256.publicKeyByteCount...]))
    try output.write("public-key.pem", Array(Self.pem(publicKey).utf8))
    try output.write("SHA256SUMS", Array(sums.utf8))
    try output.write("CHECK.txt", Array(Self.instructions.utf8))
    return try output.finish()
  }

  private static let instructions = """
    To check that these files are the ones that were captured, run in this folder:

      sha256sum --check SHA256SUMS
      openssl dgst -sha256 -verify public-key.pem -signature assertion.der manifest.json
      for f in *; do case $f in manifest.json|assertion.der|public-key.pem|SHA256SUMS|CHECK.txt) ;;
        *) grep -q "$(sha256sum < "$f" | cut -c1-64)" manifest.json || echo "NOT CAPTURED: $f" ;; esac; done

    The first command finds damage, and the second one shows that manifest.json is what was signed. The third
    one must print nothing: it compares every other file with manifest.json. SHA256SUMS is not signed.

    The files alone cannot show that public-key.pem is the
    key of the device that you expect: compare "keyId" in manifest.json, which is the SHA-256 of the public
    key's last 65 bytes.

    """

  /// SubjectPublicKeyInfo (RFC 5480) as PEM (RFC 7468).
  private static func pem(_ publicKey: [UInt8]) -> String {
    let prefix: [UInt8] = [
      0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86,
      0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
    let text = Data(prefix + publicKey).base64EncodedString(options: [
      .lineLength64Characters, .endLineWithLineFeed,
    ])
    return "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n"
  }

  /// The file name extension for a part, found from its first bytes.
  private func fileKind(_ entry: PartEntry, _ row: Row, keys: CaptureKeys) throws -> String {
    switch entry.part {
    case .metadata: return ".json"
    case .thumbnail: return ".jpg"
    default: break
    }
    var ending = ".bin"
    try open(entry, row, keys: keys) {
      ending = FileKind.ending($0)
      return false
    }
    return ending
  }
}

/// A folder that an export fills; its files have no names until it is finished.
final class ExportFolder {
  private let path: String
  private let record: (any UnfinishedExportRecord)?
  private let isMade: Bool
  private var files: [(name: String, file: UnnamedFile)] = []
  /// The files that have got their names.
  private var named: [String] = []
  private var isFinished = false

  /// - Throws: `CaptureError.alreadyExists` when the folder is there and not empty.
  init(_ path: String, _ record: (any UnfinishedExportRecord)? = nil) throws(CaptureError) {
    self.path = path
    self.record = record
    isMade = unsafe mkdir(path, 0o700) == 0
    if !isMade {
      guard errno == EEXIST else { throw .cannotWrite(errno: errno) }
      guard let found = try? FileManager.default.contentsOfDirectory(atPath: path), found.isEmpty else {
        throw .alreadyExists
      }
    }
  }

  deinit {
    if isFinished { return }
    for name in named { unsafe unlink(path + "/" + name) }
    files.removeAll()
    if isMade { unsafe rmdir(path) }
  }

  func write(_ name: String, _ bytes: [UInt8]) throws {
    try write(name) { try $0(bytes.rawSpan) }
  }

  /// - Parameter body: hands pieces of the file to the closure it is given.
  func write(_ name: String, _ body: ((RawSpan) throws -> Void) throws -> Void) throws {
    let file = try Self.sorted { () throws(MessageFormatError) in
      try UnnamedFile(path: path + "/" + name, record: record)
    }
    files.append((name, file))
    try body { bytes in
      try Self.sorted { () throws(MessageFormatError) in try SystemWrite.all(bytes, to: file.descriptor) }
    }
    try Self.sorted { () throws(MessageFormatError) in try file.synchronise() }
  }

  /// Gives all files their names.
  func finish() throws(CaptureError) -> [String] {
    for (name, file) in files {
      try Self.sorted { () throws(MessageFormatError) in try file.claimName() }
      named.append(name)
    }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .cannotWrite(errno: errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .cannotWrite(errno: errno) }
    isFinished = true
    return named
  }

  private static func sorted<R>(
    _ work: () throws(MessageFormatError) -> R
  ) throws(CaptureError) -> R {
    do { return try work() } catch {
      switch error {
      case .alreadyExists: throw .alreadyExists
      case .cannotWrite(let code): throw .cannotWrite(errno: code)
      case .notFound, .wrongKind: throw .noFolder
      case .interrupted: throw .interrupted
      case .cannotRead(let code): throw .cannotWrite(errno: code)
      case .messageTooLarge, .malformed, .metadataOutOfBounds, .entry, .tooDeep, .unsuitableIdentifier,
        .finished, .damagedCompression:
        preconditionFailure("creating a file does not read messages")
      }
    }
  }
}
