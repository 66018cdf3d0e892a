// SPDX-License-Identifier: Apache-2.0
//
// A folder as a remote: on this disk, on a stick, or one that a synchroniser carries to other machines. An object is a
// file, and the parts of its name before the last are folders.
//
// - Below the folder no symbolic link is followed: each part is opened by itself, in the folder before it.
// - A list has what is a file and has a name of ours. Links, pipes, conflict copies of synchronisers (their names have
//   dots) and hidden files are passed over and not touched.
// - It needs no hard links, no files without names, no locks and no case in names, so that vfat and exFAT do.
// - Nothing is kept open between requests: a stick may be pulled out and come back.

/// A folder that holds objects. It is never made by a request: without it, a remote is unreachable.
public struct FolderRemote: Remote {
  private let path: String
  private let flushed = FlushedFolders()

  /// - Parameter path: of the folder, absolute. Links in it are followed. Nil for a path that is not absolute.
  public init?(path: String) {
    // A path ends at its first zero, for the system.
    guard path.hasPrefix("/"), !path.utf8.contains(0) else { return nil }
    self.path = path
  }

  /// Lists the objects in a folder, and in the folders in it. Removes temporary files there that this user began to
  /// write more than a day ago. There is no server's time, and objects have no dates: synchronisers do not keep them.
  @discardableResult
  public func list(_ folder: String, _ body: (RemoteObject) -> Void) throws(RemoteError) -> UInt64? {
    let root = try OpenFolder(root: path)
    guard let parts = RemoteName.parts(ofFolder: folder), let opened = try root.descending(into: parts[...])
    else { return nil }
    try opened.list(parts, FolderWalk(), body)
    return nil
  }

  /// Reads an object, or a part of it. What is not a file is not an object.
  public func get(_ name: String, range: Range<Int>?) throws(RemoteError) -> [UInt8]? {
    let root = try OpenFolder(root: path)
    guard let name = RemoteName(name), let folder = try root.descending(into: name.folders),
      let file = try folder.file(name.file)
    else { return nil }
    return try file.bytes(in: range)
  }

  /// Writes an object: to a temporary file, which then gets the name. Where the same bytes are already, nothing changes
  /// that a reader can see. New files have mode 0600, new folders 0700.
  public func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError) {
    guard let name = RemoteName(name) else { throw .refused(.name) }
    guard bytes.count <= RemoteObject.byteCountLimit else { throw .refused(.tooLarge) }
    var folder = try OpenFolder(root: path)
    for (index, part) in name.folders.enumerated() {
      let next = try folder.madeFolder(part)
      // Another process may have made it and been killed before its name was on the disk.
      try flushed.ensure(name.parts[...index], identity: next.identity()) { () throws(RemoteError) in
        try folder.flush()
      }
      folder = next
    }
    try folder.put(name.file, bytes)
  }

  /// How many bytes an object has; nil when there is no file of that name.
  public func stat(_ name: String) throws(RemoteError) -> Int? {
    let root = try OpenFolder(root: path)
    guard let name = RemoteName(name), let folder = try root.descending(into: name.folders),
      case .file(let byteCount) = try folder.entry(name.file)
    else { return nil }
    return byteCount
  }

  /// Deletes an object. What is not a file is not an object, and stays.
  public func delete(_ name: String) throws(RemoteError) {
    let root = try OpenFolder(root: path)
    guard let name = RemoteName(name), let folder = try root.descending(into: name.folders) else { return }
    try folder.delete(name.file)
  }
}
