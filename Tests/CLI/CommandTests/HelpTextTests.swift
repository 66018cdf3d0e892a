// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CofferCommands

@Suite("Help pages in a narrow terminal")
struct HelpTextTests {
  static let pages = HelpAndSpecTests.commands.map(\.page)

  @Test("No line is longer than the terminal, but for examples", arguments: [40, 60, 80, 100])
  func fits(columns: Int) {
    for page in Self.pages {
      let fitted = HelpText.fitted(page, to: columns)
      for line in fitted.prefix(upTo: fitted.firstRange(of: "\nexample:")?.lowerBound ?? fitted.endIndex)
        .split(separator: "\n")
      where ColumnWidth.of(String(line)) > columns {
        // One word, or one choice in brackets.
        let text = line.drop { $0 == " " }
        #expect(!text.contains(" ") || columns < 80 && "[|".contains(text.prefix(1)), "\(line)")
      }
    }
  }

  @Test("Every word is there, in its order, and a wide terminal gets the page as it is")
  func words() {
    for page in Self.pages {
      #expect(HelpText.fitted(page, to: 200) == page)
      for columns in [20, 40, 80] {
        let fitted = HelpText.fitted(page, to: columns)
        #expect(fitted.split(whereSeparator: \.isWhitespace) == page.split(whereSeparator: \.isWhitespace))
      }
    }
  }

  @Test("Each command of the first page begins a line of its own", arguments: [40, 60, 80])
  func firstPage(columns: Int) {
    let lines = HelpText.fitted(CofferRoot.page, to: columns).split(separator: "\n")
    let names = CofferRoot.page.split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
      .map { $0.prefix(2) + $0.dropFirst(2).prefix { $0 != " " } }
    #expect(names.count >= 30)
    #expect(lines.map(String.init).filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }.count == names.count)
    for name in names { #expect(lines.contains { $0.hasPrefix(name) }, "\(name)") }
  }

  @Test("The first screen fits 80 columns")
  func firstSteps() {
    for line in FirstSteps.page.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
  }

  @Test("Columns stay columns: of settings, and of the commands in a usage")
  func columns() {
    let page = """
      tool: does it

      usage: tool show WHICH   read one of them
             tool list         what there is, the newest of it first

      lock-after  seconds until it is locked
      on-or-off   what may be said besides, if it
                  has to be
      """
    #expect(
      HelpText.fitted(page, to: 50) == """
        tool: does it

        usage: tool show WHICH   read one of them
               tool list         what there is, the newest
                                 of it first

        lock-after  seconds until it is locked
        on-or-off   what may be said besides, if it
                    has to be
        """)
  }

  @Test("The text of an option is beside it while there is room, and else below")
  func options() {
    let page = """
      tool: does it

        --raw      write only the content of the message
                   and no more
        example    of it
      """
    #expect(
      HelpText.fitted(page, to: 44) == """
        tool: does it

          --raw      write only the content of the
                     message and no more
          example    of it
        """)
    #expect(
      HelpText.fitted(page, to: 32) == """
        tool: does it

          --raw
              write only the content of
              the message and no more
          example    of it
        """)
  }
}
