// SPDX-License-Identifier: Apache-2.0
//
// Reading a Maildir: one file a mail, in `cur` and `new`, and the same in folders below: `.Name` (Maildir++), `Name` (mbsync,
// offlineimap), `.Name.directory/Name` (KMail). Dovecot may have compressed the mails with gzip.
// Folders are opened by descriptor and links are not followed, so nothing outside is read. Everything else is
// left out and counted, and so are files that are removed meanwhile: a mail program may be at work.

internal import Texts

/// A reader of Maildir folders.
///
/// The main folder comes first, then those in it by name, each before those in it; in each, `cur` before `new`, sorted by
/// file name. The name of a folder becomes the tag of its mails.
public struct MaildirSource: MessageSource, ~Copyable {
  /// A folder that is being read.
  private final class Place {
    let handle: FolderHandle
    /// Below the Maildir; with a slash at its end, or empty.
    let path: String
    let depth: Int

    init(_ handle: consuming FolderHandle, path: String, depth: Int) {
      self.handle = handle
      self.path = path
      self.depth = depth
    }
  }

  /// Folders still to come, the next one last, each with the one that it is in.
  private var folders: [(parent: Place, entry: FolderHandle.Entry)] = []
  /// The mailbox at hand, and which of `cur` and `new` are still to come.
  private var mailbox: Place
  private var leaves: [FolderHandle.Entry] = []
  private var current: Place
  private var names: [FolderHandle.Entry] = []
  private var tags: [String] = []
  private var buffer = ByteBuffer(capacity: 64 << 10)
  private var summary = MailSummary()
  private var bytesRead = 0
  private var leftOut = LeftOut()

  /// Opens the Maildir at `path`, which must have `cur` or `new`, or a folder with one of them.
  public init(path: String) throws(MessageFormatError) {
    let top = Place(try FolderHandle(path: path), path: "", depth: 0)
    let entries = try top.handle.entries()
    guard Self.isMaildir(top.handle, entries) else { throw .wrongKind }
    mailbox = top
    current = top
    sort(entries)
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
        try open(folder.entry, in: folder.parent)
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

  /// Whether a folder, or one of the first folders below it, has `cur` or `new`.
  static func isMaildir(
    _ folder: borrowing FolderHandle, _ entries: [FolderHandle.Entry], levels: Int = 3
  ) -> Bool {
    if entries.contains(where: isLeaf) { return true }
    guard levels > 0 else { return false }
    for entry in entries where entry.isFolder {
      guard let inner = try? FolderHandle(entry.name, in: folder), let found = try? inner.entries() else {
        continue
      }
      if isMaildir(inner, found, levels: levels - 1) { return true }
    }
    return false
  }

  /// Takes `cur` and `new` out of what is in the mailbox at hand, and the folders in it; the rest is left out.
  private mutating func sort(_ entries: [FolderHandle.Entry]) {
    leaves = entries.filter(Self.isLeaf).reversed()
    var inner: [FolderHandle.Entry] = []
    for entry in entries where !Self.isLeaf(entry) {
      let path = mailbox.path + entry.text
      if entry.isFolder, entry.text == "tmp", !leaves.isEmpty {
        leaveOutDeliveries(entry, path)
      } else if entry.isFolder {
        inner.append(entry)
      } else if let reason = LeftOut.Reason(entry.kind) {
        leftOut.add(reason, path)
      } else if entry.text != "maildirfolder" {
        leftOut.add(entry.isHidden ? .hidden : .foreign, path)
      }
    }
    // Those of Maildir++ first: to their owner they are beside the main folder.
    let ordered = inner.filter(\.isHidden) + inner.filter { !$0.isHidden }
    let place = mailbox
    folders += ordered.reversed().map { (place, $0) }
  }

  /// Mails whose delivery is not complete, or never was.
  private mutating func leaveOutDeliveries(_ entry: FolderHandle.Entry, _ path: String) {
    let found = try? FolderHandle(entry.name, in: mailbox.handle)?.entries()
    for delivery in found ?? [] { leftOut.add(.unfinished, path + "/" + delivery.text) }
  }

  /// Opens a folder, if there are mails in it.
  private mutating func open(_ folder: FolderHandle.Entry, in parent: Place) throws {
    let path = parent.path + folder.text
    let entries: [FolderHandle.Entry]
    do throws(MessageFormatError) {
      guard let handle = try FolderHandle(folder.name, in: parent.handle) else {
        return leftOut.add(.gone, path)
      }
      guard parent.depth < MessageLimits.directoryDepth else {
        throw .tooDeep(limit: MessageLimits.directoryDepth)
      }
      entries = try handle.entries()
      guard Self.isMaildir(handle, entries) else { return leftOut.add(.foreign, path) }
      mailbox = Place(handle, path: path + "/", depth: parent.depth + 1)
    } catch {
      throw MessageFormatError.entry(path: path, error)
    }
    tags = [Self.tag(path)]
    sort(entries)
  }

  /// The names of the folders on the way to a mailbox, as people know them.
  private static func tag(_ path: String) -> String {
    path.split(separator: "/").map { name in
      var name = name
      if name.first == "." {
        name.removeFirst()
        // KMail has the folders of `Name` in `.Name.directory`.
        if name.hasSuffix(kmailEnding) { name.removeLast(kmailEnding.count) }
      }
      return MailboxName.decoded(String(name))
    }.joined(separator: "/")
  }

  private static let kmailEnding = ".directory"

  /// Opens `cur` or `new` of the mailbox at hand.
  private mutating func enter(_ leaf: FolderHandle.Entry) throws {
    let path = mailbox.path + leaf.text
    do throws(MessageFormatError) {
      guard let folder = try FolderHandle(leaf.name, in: mailbox.handle) else {
        return leftOut.add(.gone, path)
      }
      names = try folder.entries().reversed()
      current = Place(folder, path: path + "/", depth: mailbox.depth)
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
      guard let file = try InputFile.entry(entry.name, in: current.handle, mayBeGzip: true) else {
        leftOut.add(.gone, path)
        return false
      }
      try file.readAll(into: &buffer)
      modified = min(max(file.modified, 0), CivilTime.representable.upperBound)
      try MailFile.check(buffer)
    } catch {
      throw MessageFormatError.entry(path: path, error)
    }
    bytesRead += buffer.count
    try MailFile.deliver(buffer) { mail, fromDate in
      try body(summary.metadata(of: mail, tags: tags, fallbackDate: fromDate ?? modified), mail)
    }
    return true
  }
}
