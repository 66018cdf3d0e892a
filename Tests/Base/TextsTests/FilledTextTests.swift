// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Texts

@Suite("Text in rows of a terminal")
struct FilledTextTests {
  @Test("What fits is one row, as it is")
  func fits() {
    #expect(FilledText.rows("a  b", columns: 4) == ["a  b"])
    #expect(FilledText.rows("", columns: 4) == [""])
  }

  @Test("Rows are broken between words, and further ones are indented")
  func broken() {
    #expect(
      FilledText.rows("coffer: there is no command of this name here", columns: 30, indent: 2) == [
        "coffer: there is no command of", "  this name here",
      ])
    #expect(
      FilledText.rows("state      locked; ask for it now and then", columns: 35, start: 11, indent: 11) == [
        "state      locked; ask for it now", "           and then",
      ])
  }

  @Test("A command in quotation marks stays together where it fits; an apostrophe is no quotation mark")
  func quotations() {
    #expect(
      FilledText.rows("hint: run and wait 'coffer message list', or not", columns: 30) == [
        "hint: run and wait", "'coffer message list', or not",
      ])
    #expect(
      FilledText.rows("'a command that is far too long for a row' it", columns: 30).first
        == "'a command that is far too")
    #expect(
      FilledText.rows("the coffer's keys and users' names", columns: 26) == [
        "the coffer's keys and", "users' names",
      ])
  }

  @Test("Where there is no room beside a name, the text is below it")
  func narrow() {
    #expect(
      FilledText.rows("captured   a long time ago, in a house", columns: 30, start: 11, indent: 11) == [
        "captured", "      a long time ago, in a", "      house",
      ])
  }

  @Test("No word is lost, and a row is too long only for one word", arguments: 1...60)
  func everything(columns: Int) {
    let line =
      "hint: 'coffer message search' looks into /very/long/path/of/a/file, and 'coffer list' shows it"
    let rows = FilledText.rows(line, columns: columns, start: 6, indent: 6)
    #expect(rows.joined(separator: " ").split(separator: " ") == line.split(separator: " "))
    for row in rows where row.count > columns {
      #expect(!row.drop { $0 == " " }.contains(" "), "\(row)")
    }
  }
}
