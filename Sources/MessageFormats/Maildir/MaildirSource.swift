// SPDX-License-Identifier: Apache-2.0
//
// Reading a Maildir: one file a mail, in `cur` and `new`, and the same in subfolders `.Name` (Maildir++).
// Folders are opened by descriptor and links are not followed, so nothing outside is read. Files that go
// away meanwhile are passed over, as a mail program may be at work.

/// A reader of Maildir folders.
///
/// The main folder comes first, then the subfolders by name; in each, `cur` before `new`, sorted by file
/// name. The name of a subfolder becomes the tag of its mails.
public struct MaildirSource: MessageSource, ~Copyable {
  /// A folder whose mails are being read.
  private final class Place {
    let handle: FolderHandle
    init(_ handle: consuming FolderHandle) { self.handle = handle }
  }

  private let root: Place
  /// Subfolders still to come, the next one last; nil is the main folder.
  private var folders: [FolderHandle.Entry?]
  private var places: [(folder: FolderHandle.Entry?, leaf: StaticString)] = []
  private var current: Place?
  private var names: [FolderHandle.Entry] = []
  private var tags: [String] = []
  private var buffer = ByteBuffer(capacity: 64 << 10)
  private var summary = MailSummary()
  private var bytesRead = 0

  /// Opens the Maildir at `path`, which must have `cur` or `new`.
  public init(path: String) throws(MessageFormatError) {
    let top = Place(try FolderHandle(path: path))
    var hasLeaf = false
    var found: [FolderHandle.Entry?] = []
    for entry in try top.handle.entries() where entry.isFolder {
      if entry.isHidden {
        found.append(entry)
      } else if ["cur", "new"].contains(entry.text) {
        hasLeaf = true
      }
    }
    guard hasLeaf else { throw .wrongKind }
    root = top
    folders = found.reversed() + [nil]
  }

  public var progress: SourceProgress { SourceProgress(bytesRead: bytesRead, bytesTotal: nil) }

  public mutating func next(_ body: (MessageMetadata, RawSpan) throws -> Void) throws -> Bool {
    while true {
      if let entry = names.popLast() {
        if entry.isFolder || entry.isHidden { continue }
        if try read(entry, body) { return true }
      } else if let place = places.popLast() {
        try open(place.folder, place.leaf)
      } else if let folder = folders.popLast() {
        places = [(folder, "new"), (folder, "cur")]
      } else {
        return false
      }
    }
  }

  private mutating func open(_ folder: FolderHandle.Entry?, _ leaf: StaticString) throws {
    guard let leafName = FolderHandle.entryName("\(leaf)") else { return }
    if let folder {
      guard let parent = try FolderHandle(folder.name, in: root.handle) else { return }
      try enter(leafName, in: parent)
      tags = [MailboxName.decoded(String(folder.text.dropFirst()))]
    } else {
      let main = root
      try enter(leafName, in: main.handle)
      tags = []
    }
  }

  private mutating func enter(_ name: [CChar], in parent: borrowing FolderHandle) throws {
    guard let folder = try FolderHandle(name, in: parent) else { return }
    names = try folder.entries().reversed()
    current = Place(folder)
  }

  private mutating func read(
    _ entry: FolderHandle.Entry, _ body: (MessageMetadata, RawSpan) throws -> Void
  ) throws -> Bool {
    guard let current, let file = try InputFile.entry(entry.name, in: current.handle) else { return false }
    try file.readAll(into: &buffer)
    bytesRead += buffer.count
    let modified = min(max(file.modified, 0), Timestamp.representable.upperBound)
    try buffer.withBytes { mail in
      try body(summary.metadata(of: mail, tags: tags, fallbackDate: modified), mail)
    }
    return true
  }
}
