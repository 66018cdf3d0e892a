// SPDX-License-Identifier: Apache-2.0
//
// Files as commands see them. A file that is opened is a descriptor; a new one has no name until it is complete.

internal import Identities
internal import MessageFormats
internal import OpenPGP
internal import Secrets

/// A new file, which gets its name when it is complete; until then it is nobody's.
protocol NewFile: AnyObject {
  /// For writing, and for reading what was written.
  var descriptor: Int32 { get }
  func synchronise() throws(MessageFormatError)
  func claimName() throws(MessageFormatError)
}

extension UnnamedFile: NewFile {}

/// The files that a command can name.
protocol CommandFiles: Sendable {
  /// Opens a file for reading.
  /// - Returns: a descriptor to close; negative when it cannot be opened, which `errno` explains.
  func open(_ path: String) -> Int32
  /// A descriptor that was open before the command, such as standard input. Ask before the command opens anything.
  /// - Throws: `SecretReadError.cannotOpen` when there is none, or one that is not open for reading.
  func inherited(_ descriptor: Int32) throws(SecretReadError) -> Int32
  func exists(_ path: String) -> Bool
  /// Whether somebody else may read a file.
  func isOpenToOthers(_ path: String) -> Bool
  /// - Parameters:
  ///   - record: is told of a name that the file has meanwhile, where the file system has no files without names.
  ///   - needsName: for tests: whether it has one anyway.
  func make(
    _ path: String, record: (any UnfinishedExportRecord)?, needsName: Bool
  ) throws(MessageFormatError) -> any NewFile
  /// A new file that is meant to be given away, such as a public part. Without its content nothing remains.
  func publisher(_ path: String) throws(OpenPGPError) -> PublicFile
  func backup(_ path: String) throws(IdentityError) -> BackupTarget
  /// Bytes that are free in a folder; nil when that is not known.
  func freeByteCount(in folder: String) -> Int?
  /// Whether a new file would be on the disk that a coffer is on.
  func isOnDisk(of home: String, _ path: String) -> Bool
  /// The same path, for code that works with folders, archives and mailboxes by itself.
  /// - Throws: ``Failure`` where there are none.
  func path(_ path: String) throws -> String
}

extension CommandFiles {
  /// Writes a new file that is meant to be given away.
  func publish(_ bytes: [UInt8], as path: String) throws(OpenPGPError) {
    try publisher(path).write(bytes)
  }
}
