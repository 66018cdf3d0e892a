// SPDX-License-Identifier: Apache-2.0
//
// Reading a folder of files, recursively and sorted by name in each folder. Hidden files, links and special
// files are left out and counted; folders are opened by descriptor. A `metadata.jsonl` at the top, as
// `DirectorySink` writes it, says more about the files it names.

internal import Texts

/// A reader of all files in a folder.
///
/// The title is the relative path, the type follows from the content and the ending, the date is that of the last
/// change; for files that `metadata.jsonl` names, what it says.
public struct DirectorySource: MessageSource, ~Copyable {
  /// A folder on the way down, with the entries still to come, the next one last.
  private final class Level {
    let handle: FolderHandle
    let path: String
    var entries: [FolderHandle.Entry]

    init(_ handle: consuming FolderHandle, path: String) throws(MessageFormatError) {
      self.path = path
      entries = try handle.entries().reversed()
      self.handle = handle
    }
  }

  private struct Described {
    var record: JSONRecord
    var line: Int
  }

  /// The type of all files that are not named with another; nil to tell it from each.
  private let contentType: String?
  private var levels: [Level]
  private var described: [String: Described]
  /// The errors of `metadata.jsonl`, to throw one by one, the next one last.
  private var flaws: [MessageFormatError]
  private var buffer = ByteBuffer(capacity: 64 << 10)
  /// The size of the file in the buffer.
  private var modified: Int64 = 0
  private var bytesRead = 0
  private var leftOut = LeftOut()
  private var hasEnded = false

  /// Opens the folder at `path` and reads its `metadata.jsonl`, if there is one.
  ///
  /// - Parameter contentType: the type of all files that `metadata.jsonl` gives none; nil to tell it from each.
  public init(path: String, contentType: String? = nil) throws(MessageFormatError) {
    self.contentType = contentType
    let top = try Level(try FolderHandle(path: path), path: "")
    let found = try Self.readMetadata(in: top)
    levels = [top]
    described = found.described
    flaws = found.flaws.reversed()
  }

  /// Bytes of the files read so far; the total is not known.
  public var progress: SourceProgress {
    SourceProgress(bytesRead: bytesRead, bytesTotal: nil, leftOut: leftOut)
  }

  /// Reads the next file; see ``MessageSource``.
  public mutating func next(_ body: (MessageMetadata, RawSpan) throws -> Void) throws -> Bool {
    if let flaw = flaws.popLast() { throw flaw }
    while let level = levels.last {
      guard let entry = level.entries.popLast() else {
        levels.removeLast()
        continue
      }
      let path = level.path + entry.text
      if entry.isHidden {
        leftOut.add(.hidden, path)
      } else if let reason = LeftOut.Reason(entry.kind) {
        leftOut.add(reason, path)
      } else {
        let known = described.removeValue(forKey: path)
        do throws(MessageFormatError) {
          if entry.isFolder {
            try enter(entry, in: level, path: path)
            continue
          }
          guard try load(entry, in: level) else { continue }
        } catch {
          throw MessageFormatError.entry(path: path, error)
        }
        try deliver(known?.record, path, entry, body)
        return true
      }
    }
    if !hasEnded {
      hasEnded = true
      flaws = described.values.map(\.line).sorted(by: >).map {
        .malformed(entry: $0, what: "metadata.jsonl names a file that is not there")
      }
      described = [:]
    }
    if let flaw = flaws.popLast() { throw flaw }
    return false
  }

  private mutating func enter(
    _ entry: FolderHandle.Entry, in level: Level, path: String
  ) throws(MessageFormatError) {
    guard levels.count < MessageLimits.directoryDepth else {
      throw .tooDeep(limit: MessageLimits.directoryDepth)
    }
    guard let folder = try FolderHandle(entry.name, in: level.handle) else {
      return leftOut.add(.gone, path)
    }
    levels.append(try Level(folder, path: path + "/"))
  }

  /// Reads a file into the buffer; false when it is gone.
  private mutating func load(
    _ entry: FolderHandle.Entry, in level: Level
  ) throws(MessageFormatError) -> Bool {
    let path = level.path + entry.text
    guard let file = try InputFile.entry(entry.name, in: level.handle) else {
      leftOut.add(.gone, path)
      return false
    }
    try file.readAll(into: &buffer)
    modified = file.modified
    bytesRead += buffer.count
    return true
  }

  private mutating func deliver(
    _ known: JSONRecord?, _ path: String, _ entry: FolderHandle.Entry,
    _ body: (MessageMetadata, RawSpan) throws -> Void
  ) throws {
    let range = CivilTime.representable
    let modified = min(max(modified, range.lowerBound), range.upperBound)
    try buffer.withBytes { content in
      let metadata = MessageMetadata(
        title: known?.title ?? path, tags: known?.tags ?? [],
        contentType: known?.type ?? contentType ?? FileTypes.contentType(ofName: entry.text, content),
        date: known.map { $0.date ?? 0 } ?? modified)
      try body(metadata, content)
    }
  }

  /// Takes in `metadata.jsonl` when its first line names a file; otherwise it is a file like any other.
  private static func readMetadata(
    in top: Level
  ) throws(MessageFormatError) -> (described: [String: Described], flaws: [MessageFormatError]) {
    var described: [String: Described] = [:]
    var flaws: [MessageFormatError] = []
    guard let name = FolderHandle.entryName(DirectorySink.metadataName),
      let index = top.entries.firstIndex(where: { $0.name == name && $0.kind == .file })
    else { return ([:], []) }
    let opened: InputFile?
    do throws(MessageFormatError) { opened = try InputFile.entry(name, in: top.handle) } catch {
      top.entries.remove(at: index)
      return ([:], [.entry(path: DirectorySink.metadataName, error)])
    }
    guard let file = opened else { return ([:], []) }
    var lines = LineReader(file, limit: MessageLimits.directoryMetadataLineByteCount)
    while true {
      do throws(MessageFormatError) {
        guard let line = try lines.next() else { break }
        let number = lines.number
        let record: JSONRecord
        do throws(JSONFlaw) {
          record = try lines.buffer.withBytes { (bytes) throws(JSONFlaw) in try JSONRecord(bytes, line) }
        } catch {
          throw .malformed(entry: number, what: error.what)
        }
        guard let path = record.file else {
          throw .malformed(entry: number, what: "the member file is missing")
        }
        guard described[path] == nil else { throw .malformed(entry: number, what: "a file is named twice") }
        described[path] = Described(record: record, line: number)
      } catch {
        if case .cannotRead = error {
          flaws.append(.entry(path: DirectorySink.metadataName, error))
          break
        }
        if lines.number <= 1 { return ([:], []) }
        flaws.append(error)
      }
    }
    if lines.number > 0 { top.entries.remove(at: index) }
    return (described, flaws)
  }
}
