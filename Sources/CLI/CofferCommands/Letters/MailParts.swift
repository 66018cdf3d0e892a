// SPDX-License-Identifier: Apache-2.0
//
// Parts of a mail as files. The sender chose their names, so of a name only what cannot do harm is used; each file is
// new, in the folder that the user named, and nothing is opened.

internal import Correspondence
internal import Foundation
internal import Glibc
internal import MessageFormats
internal import OpenPGP
internal import Secrets
internal import Texts

enum PartName {
  /// The name of a part as a file may have it: without folders, controls, marks of direction, leading dots and hyphens,
  /// at most 200 bytes long.
  static func cleaned(_ name: String, number: Int) -> String {
    var text = name.precomposedStringWithCanonicalMapping
    if let slash = text.lastIndex(where: { $0 == "/" || $0 == "\\" }) {
      text = String(text[text.index(after: slash)...])
    }
    text = TerminalText.replacing(text, keepsLines: false, keepsFormat: false) { _ in "" }
    text = text.replacing(":", with: "")
    // Cutting may bring a dot to an end, or leave nothing but the extension.
    text = trimmed(cut(trimmed(text)))
    return text.isEmpty ? "part-\(number)" : text
  }

  private static func trimmed(_ text: String) -> String {
    let rest = text.trimmingCharacters(in: CharacterSet(charactersIn: " .").union(.whitespacesAndNewlines))
    // A program would take it for an option.
    guard rest.hasPrefix("-") else { return rest }
    return trimmed(String(rest.drop { $0 == "-" }))
  }

  /// Cuts to so many bytes, and keeps a short extension.
  private static func cut(_ name: String) -> String {
    guard name.utf8.count > byteCountLimit else { return name }
    var ending = ""
    if let dot = name.lastIndex(of: "."), name[dot...].utf8.count <= extensionByteCountLimit + 1 {
      ending = String(name[dot...])
    }
    var stem = name.dropLast(ending.count)
    while stem.utf8.count + ending.utf8.count > byteCountLimit { stem.removeLast() }
    return stem + ending
  }

  /// Names that differ for every file system, in their order.
  static func distinct(_ names: [String]) -> [String] {
    var taken: Set<String> = []
    return names.map { name in
      var candidate = name
      var number = 2
      while !taken.insert(ArchiveName.folded(candidate)).inserted {
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        candidate = "\(name[..<dot]) (\(number))\(name[dot...])"
        number += 1
      }
      return candidate
    }
  }

  /// Whether a desktop may run such a file.
  static func isProgram(_ name: String) -> Bool {
    programEndings.contains((name as NSString).pathExtension.lowercased())
  }

  private static let programEndings: Set<String> = [
    "desktop", "sh", "bash", "exe", "scr", "js", "html", "htm", "svg", "jar", "py", "lnk", "bat", "cmd",
    "com",
    "msi", "ps1", "vbs", "appimage", "run", "pl", "rb", "deb", "rpm",
  ]
  private static let byteCountLimit = 200
  private static let extensionByteCountLimit = 16
}

/// The files that parts of a mail become: all of them get their names, or none does.
final class PartFiles {
  /// Where they go, in their order.
  let paths: [String]
  private let folder: String
  private let hint: String
  private var isMade = false
  private var files: [(file: AtomicFileSink, byteCount: Int)] = []
  private var isKept = false

  /// The files that parts of a mail become in a folder. Nothing is written yet.
  /// - Throws: `Failure` if one of the names is taken.
  convenience init(_ parts: [Int], of content: MailContent, in folder: String) throws {
    let names = parts.map { index in
      let number = content.tree.number(of: index) ?? 0
      return PartName.cleaned(content.tree.parts[index].name ?? "", number: number)
    }
    try self.init(PartName.distinct(names), in: folder, hint: "--save-parts DIR takes another folder")
  }

  /// - Parameter hint: what to do when a name is taken.
  /// - Throws: `Failure` if one of the names is taken.
  init(_ names: [String], in folder: String, hint: String) throws {
    self.folder = try CommandSurroundings.current.files.path(folder)
    self.hint = hint
    paths = names.map { (folder.hasSuffix("/") ? folder : folder + "/") + $0 }
    for path in paths where CommandSurroundings.current.files.exists(path) {
      throw failure(.inputOutput(errno: EEXIST), path)
    }
  }

  /// What has its name goes again, and so does a folder that was made for it.
  deinit {
    if isKept { return }
    for (file, _) in files { file.retract() }
    files.removeAll()
    if isMade { unsafe rmdir(folder) }
  }

  /// Writes the files to the disk, still without their names, into the folder, which is made if it is not there.
  /// - Parameter bytes: the content of the file at this place among ``paths``.
  func write(_ bytes: (Int) -> SecretBytes) throws {
    isMade = unsafe mkdir(folder, 0o700) == 0
    guard isMade || errno == EEXIST else { throw failure(.inputOutput(errno: errno), folder) }
    for (place, path) in paths.enumerated() {
      let bytes = bytes(place)
      do throws(OpenPGPError) {
        let file = try AtomicFileSink(path: path)
        try bytes.withBytes { (span) throws(OpenPGPError) in try file.write(span) }
        try file.sync()
        files.append((file, bytes.count))
      } catch {
        throw failure(error, path)
      }
    }
  }

  /// Gives the files their names. Until ``keep(_:)`` is called, they may lose them again.
  func claimNames() throws {
    Interruption.catchOnce()
    for (file, path) in zip(files.map(\.file), paths) {
      guard !Interruption.isRequested else { throw Failure.interrupted("nothing was written") }
      do throws(OpenPGPError) { try file.commit() } catch { throw failure(error, path) }
    }
  }

  /// From here on the files stay. Says what they are.
  func keep(_ context: CommandContext) {
    isKept = true
    for (path, file) in zip(paths, files) {
      context.remark("\(path)" + "\t" + "\(ByteCount.text(file.byteCount))")
    }
    for path in paths where PartName.isProgram(path) {
      context.remark(
        "\(LetterWords.quoted((path as NSString).lastPathComponent)) is a program, not a document")
    }
  }

  private func failure(_ error: OpenPGPError, _ path: String) -> Failure {
    var failure = Failure(openPGP: error, writing: path)
    if case .inputOutput(EEXIST) = error { failure.hint = hint }
    return failure
  }
}
