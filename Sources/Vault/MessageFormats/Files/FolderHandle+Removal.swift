// SPDX-License-Identifier: Apache-2.0
//
// Removing what an unpacked archive has left. It goes down by descriptor, so a link cannot redirect it.

internal import Glibc

extension FolderHandle {
  /// Folders in one another. Unpacking never makes more than 32.
  static let removalDepthLimit = 40

  /// Removes files and folders below a folder, which itself stays.
  ///
  /// Links are removed and never followed, and folders of another file system are not entered. What is deeper than
  /// ``removalDepthLimit``, or cannot be removed, stays.
  static func emptyTree(_ folder: Int32) {
    var status = stat()
    guard unsafe fstat(folder, &status) == 0 else { return }
    emptyTree(folder, device: status.st_dev, depth: removalDepthLimit)
  }

  private static func emptyTree(_ folder: Int32, device: dev_t, depth: Int) {
    guard depth > 0 else { return }
    // The stream has a descriptor, and thus a position, of its own.
    let copy = unsafe openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { return }
    guard let stream = unsafe fdopendir(copy) else {
      close(copy)
      return
    }
    defer { unsafe _ = closedir(stream) }
    while let record = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &record.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { start in
          unsafe Array(UnsafeBufferPointer(start: start, count: strlen(start) + 1))
        }
      }
      if isDot(name) { continue }
      if unsafe unlinkat(folder, name, 0) == 0 { continue }
      removeFolder(name, in: folder, device: device, depth: depth)
    }
  }

  private static func removeFolder(_ name: [CChar], in folder: Int32, device: dev_t, depth: Int) {
    let inner = unsafe openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    guard inner >= 0 else { return }
    var status = stat()
    if unsafe fstat(inner, &status) == 0, status.st_dev == device {
      emptyTree(inner, device: device, depth: depth - 1)
    }
    close(inner)
    unsafe _ = unlinkat(folder, name, AT_REMOVEDIR)
  }
}
