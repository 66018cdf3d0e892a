// SPDX-License-Identifier: Apache-2.0
//
// The archive in a message, on its way to a folder. It waits in a file without a name until all of it is there; then all
// of its headers are read and judged, and only then anything is unpacked, into a folder that gets its name last.

internal import Correspondence
internal import Glibc
internal import MessageFormats
internal import OpenPGP
internal import Secrets

final class ArchiveOutput: ByteSink {
  /// The folder, which must not exist.
  let path: String
  /// How many files were unpacked.
  private(set) var fileCount = 0
  private(set) var byteCount = 0
  private let file: UnnamedFile
  private let sink: FileDescriptorSink
  private let record: (any UnfinishedExportRecord)?

  init(path: String, _ context: CommandContext) throws {
    var bare = path
    while bare.count > 1, bare.hasSuffix("/") { bare.removeLast() }
    bare = try CommandSurroundings.current.files.path(bare)
    self.path = bare
    record = context.unfinishedExports()
    do { file = try UnnamedFile(path: bare, record: record) } catch { throw Failure(error, naming: bare) }
    sink = FileDescriptorSink(descriptor: file.descriptor)
  }

  func write(_ bytes: RawSpan) throws(OpenPGPError) {
    try sink.write(bytes)
    byteCount += bytes.byteCount
  }

  /// Unpacks all of it, or nothing.
  func finish() throws {
    do { try sink.flush() } catch { throw Failure(openPGP: error, writing: path) }
    let entries: [ArchiveEntry]
    do { entries = try TarReader.entries(of: file.descriptor, byteCount: byteCount) } catch {
      throw Failure(archive: error, writing: path)
    }
    do throws(MessageFormatError) {
      let folder = try UnpackedFolder(path: path, record: record)
      for entry in entries {
        if Interruption.isRequested { throw .cannotWrite(errno: EINTR) }
        if entry.isFolder {
          try folder.makeFolder(entry.path)
        } else {
          try folder.writeFile(
            entry.path, from: file.descriptor, at: entry.offset, byteCount: entry.byteCount
          ) { Interruption.isRequested }
          fileCount += 1
        }
      }
      try folder.finish()
    } catch {
      throw Failure(error, naming: path)
    }
  }
}
