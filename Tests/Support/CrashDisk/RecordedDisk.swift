// SPDX-License-Identifier: Apache-2.0
//
// The folder whose changes are numbered. There is one in a process: the calls of the C library are taken over
// for all of it (CCrashDisk).

import CCrashDisk
import Glibc

/// A folder in memory, if the machine has such, whose every change is written down or made to fail.
public final class RecordedDisk {
  /// Where it is.
  public let path: String

  /// Makes an empty folder, and watches it.
  /// Where disks and copies of them lie: in memory if possible. What is on the real disk proves nothing here.
  public static let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"

  public init() throws {
    var template = Array((Self.parent + "/crash-table-XXXXXX").utf8CString)
    guard let made = mkdtemp(&template), let resolved = realpath(made, nil) else {
      throw DiskError("mkdtemp", errno)
    }
    path = String(cString: resolved)
    free(resolved)
    let code = crash_disk_use(path)
    guard code == 0 else { throw DiskError("crash_disk_use", code) }
  }

  deinit {
    try? DiskImage.empty(path)
    rmdir(path)
  }

  /// Lets this process end with the one that started it.
  public static func endWithParent() { crash_disk_end_with_parent() }

  /// What `body` did to the disk.
  public struct Record: Sendable {
    public let calls: [DiskCall]
    /// How many changes were tried; more than `calls` where some failed.
    public let number: Int
  }

  /// What fails.
  public struct Failure: Sendable {
    /// The first change that fails, from 1.
    public var first: Int
    /// Every so many after it fail too; 0 for none, 1 for all.
    public var period: Int
    /// The `errno`: that of a full or of a broken disk.
    public var code: Int32

    public init(first: Int, period: Int, code: Int32) {
      self.first = first
      self.period = period
      self.code = code
    }
  }

  /// Writes down what `body` does.
  ///
  /// - Parameters:
  ///   - failure: what fails meanwhile.
  ///   - body: is handed a function that tells how many changes were made so far.
  public func record(failing failure: Failure? = nil, _ body: (_ count: () -> Int) throws -> Void) rethrows
    -> Record
  {
    crash_disk_record()
    if let failure { crash_disk_fail(failure.first, failure.period, failure.code) }
    defer { crash_disk_stop() }
    try body { crash_disk_count() }
    crash_disk_stop()
    return Record(calls: Self.calls(), number: crash_disk_number())
  }

  /// From here on nothing fails, and changes are still written down.
  public func heal() { crash_disk_fail(0, 0, 0) }

  private static func calls() -> [DiskCall] {
    (0..<crash_disk_count()).map { index in
      // The index is below the count.
      let call = crash_disk_at(index)!.pointee
      let path = call.path.map { String(cString: $0) } ?? ""
      switch Int(call.kind) {
      case CRASH_DISK_CREATE: return .create(file: call.file, name: path)
      case CRASH_DISK_RESIZE: return .resize(file: call.file, byteCount: call.offset)
      case CRASH_DISK_WRITE:
        let bytes = [UInt8](UnsafeRawBufferPointer(start: call.bytes, count: call.count))
        return .write(file: call.file, offset: call.offset, bytes: bytes)
      case CRASH_DISK_SYNC: return .synchronise(file: call.file)
      case CRASH_DISK_SYNC_FOLDER: return .synchroniseFolder(path)
      case CRASH_DISK_REMOVE: return .remove(path)
      case CRASH_DISK_RENAME: return .rename(path, to: String(cString: call.target))
      case CRASH_DISK_MAKE_FOLDER: return .makeFolder(path)
      case CRASH_DISK_REMOVE_FOLDER: return .removeFolder(path)
      case CRASH_DISK_ADD_RECORD:
        return .addRecord(
          path, bytes: [UInt8](UnsafeRawBufferPointer(start: call.bytes, count: call.count)))
      case CRASH_DISK_REMOVE_RECORD: return .removeRecord(path)
      default: return .synchroniseRecords
      }
    }
  }
}
