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
      while !taken.insert(candidate.lowercased()).inserted {
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

enum MailParts {
  /// The files that parts of a mail become in a folder.
  /// - Throws: `Failure` if one of the names is taken.
  static func paths(_ parts: [Int], of content: MailContent, in folder: String) throws -> [String] {
    let names = parts.map { index in
      let number = content.tree.number(of: index) ?? 0
      return PartName.cleaned(content.tree.parts[index].name ?? "", number: number)
    }
    return try free(PartName.distinct(names), in: folder, hint: "--save-parts DIR takes another folder")
  }

  /// The paths of files with these names in a folder.
  /// - Throws: `Failure` if one of the names is taken.
  static func free(_ names: [String], in folder: String, hint: String) throws -> [String] {
    let paths = names.map { (folder.hasSuffix("/") ? folder : folder + "/") + $0 }
    for path in paths where CommandSurroundings.current.files.exists(path) {
      var failure = Failure(openPGP: .inputOutput(errno: EEXIST), writing: path)
      failure.hint = hint
      throw failure
    }
    return paths
  }

  /// Writes files into a folder, which is made if it is not there. None gets its name before all are on the disk.
  /// - Parameter bytes: the content of the file at this place among `paths`.
  static func save(
    in folder: String, as paths: [String], _ context: CommandContext, bytes: (Int) -> SecretBytes
  ) throws {
    let folder = try CommandSurroundings.current.files.path(folder)
    if unsafe mkdir(folder, 0o700) != 0, errno != EEXIST {
      throw Failure(openPGP: .inputOutput(errno: errno), writing: folder)
    }
    var files: [(file: AtomicFileSink, path: String, byteCount: Int)] = []
    for (place, path) in paths.enumerated() {
      let bytes = bytes(place)
      do throws(OpenPGPError) {
        let file = try AtomicFileSink(path: path)
        try bytes.withBytes { (span) throws(OpenPGPError) in try file.write(span) }
        files.append((file, path, bytes.count))
      } catch {
        throw Failure(openPGP: error, writing: path)
      }
    }
    for (file, path, byteCount) in files {
      do throws(OpenPGPError) { try file.commit() } catch { throw Failure(openPGP: error, writing: path) }
      context.remark("\(path)" + "\t" + "\(ByteCount.text(byteCount))")
    }
    for path in paths where PartName.isProgram(path) {
      context.remark(
        "\(LetterWords.quoted((path as NSString).lastPathComponent)) is a program, not a document")
    }
  }
}
