// SPDX-License-Identifier: Apache-2.0

internal import Backups
internal import Glibc
internal import Identities
internal import MessageFormats
internal import OpenPGP
internal import Secrets

/// The files of this system.
struct SystemFiles: CommandFiles {
  private let environment: RunEnvironment

  init(_ environment: RunEnvironment) { self.environment = environment }

  func open(_ path: String) -> Int32 { unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC) }

  func inherited(_ descriptor: Int32) throws(SecretReadError) -> Int32 {
    if descriptor == STDIN_FILENO { return environment.streams.input }
    // Other descriptors of the process are those of other runs.
    guard environment.ownsProcess, let found = InheritedDescriptor(descriptor, for: .reading) else {
      throw .cannotOpen(errno: EBADF)
    }
    return found.duplicate
  }

  func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  func isOpenToOthers(_ path: String) -> Bool {
    var status = stat()
    // Not of a pipe, such as /dev/stdin or <(...).
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && status.st_mode & 0o044 != 0
  }

  func make(
    _ path: String, record: (any UnfinishedExportRecord)?, needsName: Bool
  ) throws(MessageFormatError) -> any NewFile {
    try UnnamedFile(path: path, record: record, needsName: needsName)
  }

  func publisher(_ path: String) throws(OpenPGPError) -> PublicFile {
    let file = try AtomicFileSink(path: path)
    return PublicFile { (content) throws(OpenPGPError) in
      try file.write(content)
      try file.commit()
      PublicFile.share(path)
    }
  }

  func backup(_ path: String) throws(IdentityError) -> BackupTarget { try BackupTarget(path: path) }

  func freeByteCount(in folder: String) -> Int? { DiskRoom.free(at: folder) }

  func isOnDisk(of home: String, _ path: String) -> Bool {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    var (mine, its) = (stat(), stat())
    return unsafe stat(home, &mine) == 0 && stat(folder, &its) == 0 && mine.st_dev == its.st_dev
  }

  func path(_ path: String) throws -> String { path }
}
