// SPDX-License-Identifier: Apache-2.0
//
// Tests/Vectors is whole: every table says where it comes from and has the rows that it and the page say, and the
// OpenPGP cases name every file beside them. The reader refuses tables that are cut.

import Foundation
import Repository
import TestVectors
import Testing

@Suite("Tables of vectors")
struct VectorTableTests {
  private static func paths() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: VectorFiles.folder.path).sorted()
  }

  @Test("Each table names its origin, version and licence, and README.md has it with its rows")
  func origins() throws {
    let page = String(decoding: try VectorFiles.contents("README.md"), as: UTF8.self)
    let tables = try Self.paths().filter { $0.hasSuffix(".vectors") }
    #expect(tables.count == 48)
    for path in tables {
      let table = try VectorTable(path.replacing(".vectors", with: ""))
      for name in ["set", "origin", "version", "licence"] {
        #expect(table.header[name]?.isEmpty == false, "\(path) does not say its \(name)")
      }
      #expect(page.contains("| \(path) | \(table.rows.count) |"), "\(path): \(table.rows.count)")
    }
  }

  @Test("The OpenPGP cases name files that exist, and no other file stands beside them")
  func cases() throws {
    var named: Set<String> = ["cases.vectors"]
    for row in try VectorTable("openpgp/cases").rows {
      let words = try row.text("command").split(separator: " ").dropFirst().map(String.init)
      for word in try words + [row.text("stdin"), row.text("stdout")]
      where word.contains("/") && !word.contains("$OUT") {
        named.insert(word.hasPrefix("--") ? String(word.drop { $0 != "=" }.dropFirst()) : word)
      }
    }
    let files = try Self.paths().filter { $0.hasPrefix("openpgp/") && !$0.hasSuffix("/") }
      .map { String($0.dropFirst("openpgp/".count)) }
      .filter { !isFolder(VectorFiles.folder.appending(path: "openpgp/" + $0)) }
    let different = Set(files).symmetricDifference(named).sorted()
    #expect(different == [])
    #expect(files.count == 730)
  }

  private func isFolder(_ url: URL) -> Bool {
    (try? url.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true
  }

  private static let table = "set: made up\nrows: 2\n\na\tb\n00ff\t-\n\"\ttext\n"

  @Test("Marks for nothing and for the value above are read")
  func marks() throws {
    let table = try VectorTable(text: Self.table, name: "made up")
    #expect(try table.rows.map { try $0.bytes("a") } == [[0, 255], [0, 255]])
    #expect(try table.rows.map { try $0.text("b") } == ["", "text"])
    #expect(throws: VectorFault.self) { try table.rows[0].text("c") }
    #expect(throws: VectorFault.self) { try table.rows[1].bytes("b") }
  }

  @Test("Base64 and changes of the value above are read")
  func packed() throws {
    let table = try VectorTable(
      text: "set: made up\nrows: 3\n\na\n=AAECAw==\n\"1=ff,3=00\n\"\n", name: "made up")
    #expect(try table.rows.map { try $0.bytes("a") } == [[0, 1, 2, 3], [0, 255, 2, 0], [0, 255, 2, 0]])
    for edit in ["\"4=00", "\"1", "\"1=100", "=A"] {
      #expect(throws: VectorFault.self, "\(edit)") {
        let table = try VectorTable(text: "set: made up\nrows: 2\n\na\n=AAECAw==\n\(edit)\n", name: "made up")
        _ = try table.rows[1].bytes("a")
      }
    }
  }

  @Test("A table that is empty, cut or of other rows than it says is refused")
  func refused() {
    for text in [
      "", "set: made up\nrows: 0\n\na\tb\n", String(Self.table.dropLast()), Self.table + "00\n",
      Self.table.replacing("rows: 2", with: "rows: 3"), Self.table.replacing("\ttext", with: ""),
      Self.table.replacing("\n\n", with: "\n"),
    ] {
      #expect(throws: VectorFault.self, "\(text)") { try VectorTable(text: text, name: "made up") }
    }
  }
}
