// SPDX-License-Identifier: Apache-2.0
//
// Where decrypted or verified content goes: a file, a pipe, or the terminal. Only a text that is not long is shown on
// a terminal; anything else becomes a file beside the input.

internal import CofferKit
internal import Correspondence
internal import Glibc
internal import MessageFormats
internal import OpenPGP
internal import Primitives
internal import Secrets

final class DecryptedOutput: ByteSink {
  /// More is not shown.
  static let shownByteCountLimit = 1 << 20

  /// The file that was written, or will be; nil for none.
  private(set) var path: String?
  private(set) var byteCount = 0
  private var output: LetterOutput?
  /// Where content goes that a terminal does not show; nil if there is no name for it.
  private let fallback: String?
  /// Notes where plaintext is before it has its name.
  private let record: UnfinishedExports?
  /// A thread of the engine may write.
  private let surroundings = CommandSurroundings.current
  /// For the terminal: all that has come.
  private var held: SecretBytes?
  /// As much of the content as says whether it is an archive.
  private var head: [UInt8] = []
  /// The folder that the content, an archive, is unpacked to.
  private let archive: ArchiveOutput?
  /// How many files were unpacked; nil unless an archive was.
  var fileCount: Int? { archive?.fileCount }

  /// Whether it is for the terminal, as far as is known.
  var isScreen: Bool { held != nil }

  /// - Parameter wanted: the file that the user named; `-` for standard output.
  init(_ wanted: String?, _ input: LetterInput, _ context: CommandContext) throws {
    archive = nil
    fallback = input.isStandardInput ? nil : LetterNames.decrypted(input.path)
    record = context.unfinishedExports()
    if let wanted, wanted != "-" {
      path = wanted
      output = try LetterOutput(path: wanted, record: record)
    } else if Terminal.isOutputTerminal {
      // Also with `-`: content never reaches a terminal as it is.
      held = SecretBytes(zeroed: Self.shownByteCountLimit)
    } else {
      output = try LetterOutput(path: nil, record: nil)
    }
  }

  /// Unpacks an archive to a new folder.
  init(unpackingTo folder: String, _ context: CommandContext) throws {
    let archive = try ArchiveOutput(path: folder, context)
    self.archive = archive
    path = archive.path
    fallback = nil
    record = context.unfinishedExports()
  }

  /// Says what the content is worth, before the first octet of it: the verdict, then its notes.
  func tell(_ words: String, _ verdict: Verdict, _ palette: Palette, isDetailed: Bool = false) {
    let tone = VerdictWords.tone(verdict)
    if isScreen {
      Terminal.remark(whole: palette.paint(BarredText.edge(words), tone))
    } else {
      Terminal.remark(palette.paint("\(words)", tone))
    }
    for note in VerdictWords.notes(verdict, isDetailed: isDetailed) { Terminal.remark("\(note)") }
  }

  func write(_ bytes: RawSpan) throws(OpenPGPError) {
    if let archive {
      byteCount += bytes.byteCount
      return try archive.write(bytes)
    }
    if output == nil, byteCount + bytes.byteCount > Self.shownByteCountLimit { try openFallback() }
    if let output {
      try output.write(bytes)
    } else {
      let start = byteCount
      held?.withMutableBytes { $0.copy(bytes, to: start) }
    }
    byteCount += bytes.byteCount
    let missing = Self.tarMagic.upperBound - head.count
    if missing > 0 { head += [UInt8](copying: bytes.extracting(first: min(missing, bytes.byteCount))) }
  }

  /// Whether the content is an archive of files, whatever its name. POSIX.1-2017, pax, "ustar Interchange Format".
  var isArchive: Bool {
    head.count == Self.tarMagic.upperBound && head[Self.tarMagic].elementsEqual("ustar".utf8)
  }

  private static let tarMagic = 257..<262

  /// Shows the content, or gives the file its name.
  /// - Parameter coverage: how much of it is signed.
  func finish(endingWith coverage: String) throws {
    if let archive { return try archive.finish() }
    if output == nil {
      let isText = heldBytes { MessageMetadata.isText($0) }
      if isText {
        let text = heldBytes { bytes in
          unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        }
        BarredText.print(text)
        held = nil
        return Terminal.remark(whole: BarredText.edge("end: \(ByteCount.text(byteCount)), \(coverage)"))
      }
      try openingFallback()
    }
    do { try output?.finish() } catch { throw Failure(openPGP: error, writing: path ?? "-") }
  }

  private func heldBytes<R>(_ body: (RawSpan) -> R) -> R {
    guard held != nil else { return body(RawSpan()) }
    let count = byteCount
    var bytes = SecretBytes(zeroed: 0)
    held?.withBytes { bytes = SecretBytes(copying: $0.extracting(first: count)) }
    return bytes.withBytes { body($0) }
  }

  private func openingFallback() throws {
    guard fallback != nil else { throw Self.notForTerminal }
    do { try openFallback() } catch { throw Failure(openPGP: error, writing: fallback ?? "-") }
  }

  private func openFallback() throws(OpenPGPError) {
    let opened = surroundings.here { fallback.flatMap { try? LetterOutput(path: $0, record: record) } }
    guard let fallback, let opened else {
      throw .inputOutput(errno: fallback == nil ? EISDIR : EEXIST)
    }
    path = fallback
    output = opened
    let count = byteCount
    try held?.withBytes { (bytes) throws(OpenPGPError) in try opened.write(bytes.extracting(first: count)) }
    held = nil
  }

  private static let notForTerminal = Failure(
    .refused, "not_for_terminal", "the content is not text, or too long to be shown",
    hint: "--output FILE, or a pipe, takes it")
}
