// SPDX-License-Identifier: Apache-2.0
//
// The files of the tutorial: octets in memory under a name. A command that opens one gets a descriptor of a file that
// has no name on any disk. Nothing here takes a path to the system.

internal import CSystem
internal import Glibc
internal import Identities
internal import MessageFormats
internal import OpenPGP
internal import Primitives
internal import Secrets
internal import Synchronization

/// Files in memory.
final class TutorialFiles: CommandFiles {
  private let contents = Mutex<[String: SharedSecretBytes]>([:])

  func put(_ octets: [UInt8], as name: String) {
    let bytes = SharedSecretBytes(SecretBytes(copying: octets.rawSpan))
    contents.withLock { $0[name] = bytes }
  }

  func put(_ bytes: SharedSecretBytes, as name: String) { contents.withLock { $0[name] = bytes } }

  /// A picture with a QR code, and the text of the code.
  private let picture = Mutex<(png: [UInt8], text: String)?>(nil)

  func put(picture png: [UInt8], of text: String, as name: String) {
    picture.withLock { $0 = (png, text) }
    put(png, as: name)
  }

  /// The text of the code in the tutorial's picture; nil for another one.
  func code(of picture: RawSpan) -> String? {
    let bytes = [UInt8](copying: picture)
    return self.picture.withLock { $0?.png == bytes ? $0?.text : nil }
  }

  func content(_ name: String) -> SharedSecretBytes? { contents.withLock { $0[name] } }

  /// Removes every file but these.
  func keep(_ names: Set<String>) {
    contents.withLock { contents in contents = contents.filter { names.contains($0.key) } }
  }

  func remove(_ name: String) { contents.withLock { $0[name] = nil } }

  // MARK: As commands see them

  func open(_ path: String) -> Int32 {
    guard let content = content(path) else {
      errno = ENOENT
      return -1
    }
    let descriptor = coffer_memory_file()
    guard descriptor >= 0 else { return -1 }
    let isWritten = content.withBytes { bytes in
      unsafe bytes.withUnsafeBytes {
        unsafe coffer_write_all(descriptor, $0.baseAddress, $0.count) == 0
      }
    }
    guard isWritten, lseek(descriptor, 0, SEEK_SET) == 0 else {
      close(descriptor)
      return -1
    }
    return descriptor
  }

  func inherited(_ descriptor: Int32) throws(SecretReadError) -> Int32 { throw .cannotOpen(errno: ENOENT) }

  func isOpenToOthers(_ path: String) -> Bool { false }

  func exists(_ path: String) -> Bool { content(path) != nil }

  func make(
    _ path: String, record: (any UnfinishedExportRecord)?, needsName: Bool
  ) throws(MessageFormatError) -> any NewFile {
    try NewTutorialFile(path, in: self)
  }

  func publisher(_ path: String) throws(OpenPGPError) -> PublicFile {
    guard Self.isName(path) else { throw .inputOutput(errno: ENOENT) }
    guard !exists(path) else { throw .inputOutput(errno: EEXIST) }
    return PublicFile { (content) throws(OpenPGPError) in self.put(content, as: path) }
  }

  func backup(_ path: String) throws(IdentityError) -> BackupTarget {
    do throws(MessageFormatError) {
      return BackupTarget(TutorialBackup(path, try NewTutorialFile(path, in: self), self))
    } catch { throw .cannotWrite(errno: error == .alreadyExists ? EEXIST : ENOENT) }
  }

  func freeByteCount(in folder: String) -> Int? { nil }

  func isOnDisk(of home: String, _ path: String) -> Bool { false }

  func path(_ path: String) throws -> String {
    throw Failure.notInTutorial("folders, archives and mailboxes")
  }

  /// Whether a new file may have this name: there are no folders.
  static func isName(_ path: String) -> Bool {
    !path.isEmpty && !path.contains("/") && path != "." && path != ".."
  }
}

/// A new file of the tutorial.
private final class NewTutorialFile: NewFile {
  let descriptor: Int32
  private let name: String
  private let files: TutorialFiles

  init(_ name: String, in files: TutorialFiles) throws(MessageFormatError) {
    guard TutorialFiles.isName(name) else { throw .notFound }
    guard !files.exists(name) else { throw .alreadyExists }
    self.name = name
    self.files = files
    descriptor = coffer_memory_file()
    guard descriptor >= 0 else { throw .cannotWrite(errno: errno) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func synchronise() {}

  func claimName() throws(MessageFormatError) {
    guard !files.exists(name) else { throw .alreadyExists }
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw .cannotWrite(errno: errno) }
    let bytes: SecretBytes
    do throws(SecretReadError) {
      bytes = try SecretBytes.read(fromDescriptor: descriptor, byteCountLimit: Self.byteCountLimit)
    } catch { throw .cannotWrite(errno: EFBIG) }
    files.put(SharedSecretBytes(bytes), as: name)
  }

  /// More than any chapter makes; files are in locked memory.
  private static let byteCountLimit = 1 << 20
}

/// A backup among the tutorial's files.
private final class TutorialBackup: BackupFile {
  private let name: String
  private let new: NewTutorialFile
  private let files: TutorialFiles
  private let stream: FileDescriptorSink
  var sink: any ByteSink { stream }

  init(_ name: String, _ new: NewTutorialFile, _ files: TutorialFiles) {
    (self.name, self.new, self.files) = (name, new, files)
    stream = FileDescriptorSink(descriptor: new.descriptor)
  }

  func commit() throws(OpenPGPError) {
    try stream.flush()
    do throws(MessageFormatError) { try new.claimName() } catch { throw .inputOutput(errno: EEXIST) }
  }

  func reopened() -> Int32 { files.open(name) }

  func remove() { files.remove(name) }
}

extension Failure {
  /// The tutorial is kept apart from everything else.
  static func notInTutorial(_ what: String) -> Failure {
    Failure(
      .refused, "not_in_tutorial", "the tutorial has no \(what): it cannot reach anything outside of itself")
  }
}
