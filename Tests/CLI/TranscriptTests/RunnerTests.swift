// SPDX-License-Identifier: Apache-2.0
//
// The runner of the sessions, checked with sessions of its own: it must notice what goes otherwise.

import Foundation
import Testing

@Suite("The runner of command-line sessions")
struct RunnerTests {
  private func differences(_ text: String) throws -> [String] {
    // Nothing here calls the command, so any file may stand for it.
    let session = Session(coffer: URL(filePath: "/bin/true"), samples: TranscriptTests.samples)
    return try Transcript(text: text).check(in: session).differences
  }

  @Test("A session that goes as written has no differences")
  func agreement() throws {
    let text = """
      # Prose is for the reader.
      $ NAME=Edda; cd "$(mktemp -d -p .)"
      $ echo "Hello $NAME" | tr a-z A-Z
      HELLO EDDA

      $ printf '%s\\n' one two \\
      >   three
      one
      two
      three
      $ echo kept > file; cat < file; echo aside >&2; false
      kept
      aside
      [exit 1]
      """
    #expect(try differences(text) == [])
  }

  @Test(
    "A line that differs, is missing, or was not expected, is reported",
    arguments: [
      ("$ echo one\ntwo\n", ["  - two", "  + one"]),
      ("$ true\ntwo\n", ["  - two"]),
      ("$ echo one\n", ["  + one"]),
      ("$ echo one; echo two\n...\nthree\n", ["  - three"]),
      ("$ exit 3\n", ["  - [exit 0]", "  + [not run: the session had ended]"]),
      ("$ (exit 3)\n", ["  - [exit 0]", "  + [exit 3]"]),
      ("$ echo x\nx\n[exit 3]\n", ["  - [exit 3]", "  + [exit 0]"]),
      ("$ echo axb\na.b\n", ["  - a.b", "  + axb"]),
    ])
  func disagreement(text: String, expected: [String]) throws {
    let found = try differences(text)
    #expect(found.count == 1)
    for line in expected {
      #expect(found.first?.split(separator: "\n").contains(Substring(line)) == true, "\(found)")
    }
  }

  @Test(
    "A placeholder stands for what it names and for nothing else",
    arguments: [
      ("id <uuid>", "id 0F8FAD5B-D9CB-469F-A165-70867728950E", true),
      ("id <uuid>", "id 0F8FAD5B-D9CB-469F-A165", false),
      ("at <date>.", "at 2026-11-21T08:15:00Z.", true),
      ("at <date>.", "at 2026-11-21 08:15.", true),
      ("at <date>", "at 2026-11-21", true),
      ("at <date>", "at noon", false),
      ("<number> messages", "1,204 messages", true),
      ("<number> messages", "no messages", false),
      ("<words>", "legal winner thank year", true),
      ("<words>", "legal winner 7", false),
      ("a<any>b", "ab", true),
      ("a<any>b", "a + (c", false),
      ("(a+b) [c] {d} $1.00 ^|?*\\/", "(a+b) [c] {d} $1.00 ^|?*\\/", true),
      ("<other>", "<other>", true),
      ("", "x", false),
    ])
  func placeholders(pattern: String, line: String, matches: Bool) throws {
    #expect(try LinePattern(pattern).matches(line) == matches)
  }

  @Test("Three dots stand for any number of lines, also none, wherever they are")
  func anyLines() throws {
    let lines = ["one", "two", "three", "two", "four"]
    #expect(try Alignment(expected: ["...", "two", "four"], actual: lines).isMatch)
    #expect(try Alignment(expected: ["one", "...", "four", "..."], actual: lines).isMatch)
    #expect(try Alignment(expected: ["..."], actual: []).isMatch)
    #expect(try !Alignment(expected: ["...", "three"], actual: lines).isMatch)
    #expect(try !Alignment(expected: ["two", "..."], actual: lines).isMatch)
  }

  @Test("A session that went otherwise can be written as it went, and then goes as written")
  func rewriting() throws {
    let text = "# Why.\n$ echo on 2026-11-21; echo two 22\nnone\ntwo <number>\n\n$ (exit 4)\n"
    let session = Session(coffer: URL(filePath: "/bin/true"), samples: TranscriptTests.samples)
    let corrected = try Transcript(text: text).check(in: session).corrected
    let rewritten = Transcript.text(of: corrected)
    #expect(
      rewritten
        == "# Why.\n$ echo on 2026-11-21; echo two 22\non <date>\ntwo <number>\n\n$ (exit 4)\n[exit 4]\n")
    #expect(try differences(rewritten) == [])
  }

  @Test("A session sees none of the user's own settings")
  func environment() throws {
    #expect(try differences("$ echo \"$HOME|$COFFER_HOME\"; ls -A\n<any>/home|<any>/home/coffer\n") == [])
  }
}
