// SPDX-License-Identifier: Apache-2.0
//
// Reading mails that are files of their own, as mail programs save them (`.eml`).

internal import Texts

/// A reader of files with one mail each.
public struct MailFilesSource: MessageSource, ~Copyable {
  /// The files still to come, the next one last.
  private var paths: [String]
  private let stop: Int32?
  private let standardInput: Int32
  private var buffer = ByteBuffer(capacity: 64 << 10)
  private var summary = MailSummary()
  private var bytesRead = 0

  /// - Parameters:
  ///   - paths: the files; `-` is standard input.
  ///   - stop: a descriptor that is readable once waiting for input is to end.
  ///   - standardInput: the descriptor of standard input.
  public init(paths: [String], stop: Int32? = nil, standardInput: Int32 = 0) {
    self.standardInput = standardInput
    self.paths = paths.reversed()
    self.stop = stop
  }

  /// Bytes of the files read so far; the total is not known.
  public var progress: SourceProgress { SourceProgress(bytesRead: bytesRead, bytesTotal: nil) }

  /// Reads the next file; see ``MessageSource``. A file that cannot be read, or is not a mail, is an error of its own.
  public mutating func next(_ body: (MessageMetadata, RawSpan) throws -> Void) throws -> Bool {
    guard let path = paths.popLast() else { return false }
    let modified: Int64
    do throws(MessageFormatError) {
      let file = try InputFile(path: path, stop: stop, standardInput: standardInput)
      try file.readAll(into: &buffer)
      modified = min(max(file.modified, 0), CivilTime.representable.upperBound)
      try MailFile.check(buffer)
      try buffer.withBytes { (bytes) throws(MessageFormatError) in
        guard MailTree.isMail(bytes.extracting(MboxSeparator.byteCount(before: bytes)..<bytes.byteCount))
        else {
          throw .malformed(entry: 1, what: "this is not a mail")
        }
        guard !MboxSource.hasSeveral(bytes) else {
          throw .malformed(entry: 1, what: "these are several mails, as an mbox has them")
        }
      }
    } catch .interrupted {
      throw MessageFormatError.interrupted
    } catch {
      throw MessageFormatError.entry(path: path, error)
    }
    bytesRead += buffer.count
    try MailFile.deliver(buffer) { mail, fromDate in
      try body(summary.metadata(of: mail, fallbackDate: fromDate ?? modified), mail)
    }
    return true
  }
}
