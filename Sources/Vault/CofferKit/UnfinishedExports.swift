// SPDX-License-Identifier: Apache-2.0
//
// The coffer's notes of running exports (Specs/storage.md, "Unfinished exports"): one small file each, in the folder
// `unfinished`, with the path of a file that needs a name before it is complete. A killed export leaves both; the next
// export removes them, and the examination names them. A note that cannot be written is left out: a read-only coffer
// can still be exported.

internal import Foundation
internal import Glibc
public import MessageFormats

/// The notes of files that exports of one coffer write under temporary names.
public final class UnfinishedExports: UnfinishedExportRecord {
  static let folderName = "unfinished"

  private let folder: String

  /// The notes of the coffer in `home`.
  public init(home: String) { folder = home + "/" + Self.folderName }

  // MARK: A record

  /// Notes that an export writes to `path`.
  public func begin(_ path: String) {
    // The name of the folder must last as long as the note in it.
    if unsafe mkdir(folder, 0o700) == 0 { Self.synchronise(folder + "/..") }
    let file = unsafe open(note(path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    let isWritten = (try? unsafe SystemWrite.all(path.utf8Span.span.bytes, to: file)) != nil
    guard isWritten, fsync(file) == 0 else {
      unsafe unlink(note(path))
      return
    }
    Self.synchronise(folder)
  }

  /// Removes the note, because the file is complete or gone.
  public func end(_ path: String) {
    unsafe unlink(note(path))
    // Gone with its last note.
    unsafe rmdir(folder)
  }

  /// The note has the same name as the file, which is unique.
  private func note(_ path: String) -> String {
    folder + "/" + (path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path)
  }

  private static func synchronise(_ path: String) {
    let opened = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0)
    guard opened >= 0 else { return }
    fsync(opened)
    close(opened)
  }

  // MARK: What was left

  /// The files that killed exports have left, sorted by path.
  public struct Leftovers: Sendable, Equatable {
    /// Paths with plaintext.
    public var present: [String] = []
    /// Paths that may have plaintext, in a folder that cannot be reached now.
    public var unreachable: [String] = []
  }

  /// Looks for files that killed exports have left, but not for those of running exports.
  public func leftovers() -> Leftovers {
    var found = Leftovers()
    for path in notedPaths() {
      switch UnfinishedExport.state(of: path) {
      case .abandoned: found.present.append(path)
      case .unreachable: found.unreachable.append(path)
      case .gone, .notOurs, .inUse: break
      }
    }
    return found
  }

  /// Removes the files that killed exports have left, as far as they can be reached.
  /// - Returns: the paths that were removed.
  @discardableResult
  public func removeLeftovers() -> [String] {
    var removed: [String] = []
    for path in notedPaths() {
      let wasThere = UnfinishedExport.state(of: path) == .abandoned
      switch UnfinishedExport.removeAbandoned(path) {
      case .gone:
        if wasThere { removed.append(path) }
        end(path)
      case .notOurs: end(path)
      case .abandoned, .inUse, .unreachable: break
      }
    }
    return removed
  }

  /// Removes all notes, when the coffer is erased.
  /// - Returns: the paths of files that may still exist.
  func forget() -> [String] {
    let paths = notedPaths()
    for path in paths { end(path) }
    unsafe rmdir(folder)
    return paths
  }

  private func notedPaths() -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { name in
      guard let bytes = Self.read(folder + "/" + name), let path = String(validating: bytes, as: UTF8.self),
        note(path) == folder + "/" + name
      else { return nil }
      return path
    }.sorted()
  }

  /// A small regular file; nil for anything else.
  private static func read(_ path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe Glibc.read(file, &bytes, bytes.count)
    return count > 0 ? Array(bytes.prefix(count)) : nil
  }
}
