// SPDX-License-Identifier: Apache-2.0
//
// Reading a Maildir: one file a mail, in `cur` and `new`, and the same in subfolders `.Name` (Maildir++).
// Folders are opened by descriptor and links are not followed, so nothing outside is read. Everything else is
// left out and counted, and so are files that are removed meanwhile: a mail program may be at work.

internal import Texts

/// A reader of Maildir folders.
///
/// The main folder comes first, then the subfolders by name; in each, `cur` before `new`, sorted by file
/// name. The name of a subfolder becomes the tag of its mails.
public struct MaildirSource: MessageSource, ~Copyable {
  /// A folder that is being read.
  private final class Place {
    let handle: FolderHandle
    /// Below the Maildir; with a slash at its end, or empty.
    let path: String

    init(_ handle: consuming FolderHandle, path: String) {
      self.handle = handle
      self.path = path
    }
  }

  private let root: Place
  /// Subfolders still to come, the next one last.
  private var folders: [FolderHandle.Entry]
  /// The main folder or the subfolder at hand, and which of `cur` and `new` are still to come.
  private var mailbox: Place
  private var leaves: [FolderHandle.Entry] = []
  private var current: Place
  private var names: [FolderHandle.Entry] = []
  private var tags: [String] = []
  private var buffer = ByteBuffer(capacity: 64 << 10)
  private var summary = MailSummary()
  private var bytesRead = 0
  private var leftOut = LeftOut()

  /// Opens the Maildir at `path`, which must have `cur` or `new`.
  public init(path: String) throws(MessageFormatError) {
    let top = Place(try FolderHandle(path: path), path: "")
    var subfolders: [FolderHandle.Entry] = []
    var others: [FolderHandle.Entry] = []
    for entry in try top.handle.entries() {
      if entry.isHidden, entry.isFolder { subfolders.append(entry) } else { others.append(entry) }
    }
    guard others.contains(where: Self.isLeaf) else { throw .wrongKind }
    root = top
    mailbox = top
    current = top
    folders = subfolders.reversed()
    sort(others)
  }

  /// Bytes of the mails read so far; the total is not known.
  public var progress: SourceProgress {
    SourceProgress(bytesRead: bytesRead, bytesTotal: nil, leftOut: leftOut)
  }

  /// Reads the next mail; see ``MessageSource``.
  public mutating func next(_ body: (MessageMetadata, RawSpan) throws -> Void) throws -> Bool {
    while true {
      if let entry = names.popLast() {
        if try read(entry, body) { return true }
      } else if let leaf = leaves.popLast() {
        try enter(leaf)
      } else if let folder = folders.popLast() {
        try open(folder)
      } else {
        return false
      }
    }
  }

  // MARK: Folders

  /// Whether it is `cur` or `new`.
  static func isLeaf(_ entry: FolderHandle.Entry) -> Bool {
    entry.isFolder && ["cur", "new"].contains(entry.text)
  }

  /// Takes `cur` and `new` out of what is in the mailbox at hand; the rest is left out.
  private mutating func sort(_ entries: [FolderHandle.Entry]) {
    leaves = entries.filter(Self.isLeaf).reversed()
    for entry in entries where !Self.isLeaf(entry) {
      let path = mailbox.path + entry.text
      if entry.isFolder, entry.text == "tmp" {
        leaveOutDeliveries(entry, path)
      } else if let reason = LeftOut.Reason(entry.kind) {
        leftOut.add(reason, path)
      } else if entry.text != "maildirfolder" {
        leftOut.add(entry.isHidden ? .hidden : .foreign, path)
      }
    }
  }

  /// Mails whose delivery is not complete, or never was.
  private mutating func leaveOutDeliveries(_ entry: FolderHandle.Entry, _ path: String) {
    let found = try? FolderHandle(entry.name, in: mailbox.handle)?.entries()
    for delivery in found ?? [] { leftOut.add(.unfinished, path + "/" + delivery.text) }
  }

  /// Opens a subfolder, if it is one of mails.
  private mutating func open(_ folder: FolderHandle.Entry) throws {
    let entries: [FolderHandle.Entry]
    do throws(MessageFormatError) {
      guard let handle = try FolderHandle(folder.name, in: root.handle) else {
        return leftOut.add(.gone, folder.text)
      }
      entries = try handle.entries()
      guard entries.contains(where: Self.isLeaf) else { return leftOut.add(.foreign, folder.text) }
      mailbox = Place(handle, path: folder.text + "/")
    } catch {
      throw MessageFormatError.entry(path: folder.text, error)
    }
    tags = [MailboxName.decoded(String(folder.text.dropFirst()))]
    sort(entries)
  }

  /// Opens `cur` or `new` of the mailbox at hand.
  private mutating func enter(_ leaf: FolderHandle.Entry) throws {
    let path = mailbox.path + leaf.text
    do throws(MessageFormatError) {
      guard let folder = try FolderHandle(leaf.name, in: mailbox.handle) else {
        return leftOut.add(.gone, path)
      }
      names = try folder.entries().reversed()
      current = Place(folder, path: path + "/")
    } catch {
      throw MessageFormatError.entry(path: path, error)
    }
  }

  // MARK: Mails

  private mutating func read(
    _ entry: FolderHandle.Entry, _ body: (MessageMetadata, RawSpan) throws -> Void
  ) throws -> Bool {
    let path = current.path + entry.text
    let reason: LeftOut.Reason? =
      entry.isHidden ? .hidden : entry.isFolder ? .foreign : LeftOut.Reason(entry.kind)
    if let reason {
      leftOut.add(reason, path)
      return false
    }
    let modified: Int64
    do throws(MessageFormatError) {
      guard let file = try InputFile.entry(entry.name, in: current.handle) else {
        leftOut.add(.gone, path)
        return false
      }
      try file.readAll(into: &buffer)
      modified = min(max(file.modified, 0), CivilTime.representable.upperBound)
    } catch {
      throw MessageFormatError.entry(path: path, error)
    }
    bytesRead += buffer.count
    try buffer.withBytes { mail in
      try body(summary.metadata(of: mail, tags: tags, fallbackDate: modified), mail)
    }
    return true
  }
}
