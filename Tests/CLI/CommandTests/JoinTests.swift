// SPDX-License-Identifier: Apache-2.0
//
// A device that asks to be let in, and the cards by which it can ask.

import Foundation
import PseudoTerminals
import Testing

@Suite("A device that asks to join an account")
struct JoinTests {
  private let devices: TwoDevices

  /// The second device has a coffer of its own.
  init() throws {
    devices = try TwoDevices(messages: ["Lease"])
    let made = try devices.second(["init", "--recovery-phrase-out", "words2"])
    try #require(made.status == 0, "\(made)")
    try #require(try devices.second(["message", "add", "--title", "Boat"], input: "b").status == 0)
  }

  private func ask(_ options: [String] = []) throws -> Place.Outcome {
    try devices.second(["remote", "join", "--card-file", "card", "--name", "desktop"] + options)
  }

  /// The twelve words of a request.
  private func words(_ answer: Place.Outcome) throws -> String {
    let field = try #require(answer.output.firstMatch(of: /"fingerprint":"([a-z ]+)"/))
    #expect(field.1.split(separator: " ").count == 12)
    return String(field.1)
  }

  @Test("Its words let it in, others do not; then both have the messages of both")
  func join() throws {
    #expect(try devices.first(["device", "approve"]).error.contains("no device asks to join"))
    let words = try words(ask(["--json"]))
    #expect(try words == self.words(ask(["--json"])))
    let early = try devices.second(["sync"])
    #expect(early.status == 7 && early.error.contains("'coffer device approve'"), "\(early)")
    #expect(try devices.second(["sync", "status"]).output.contains(words))

    let unasked = try devices.first(["device", "approve"])
    #expect(unasked.status == 3 && unasked.error.contains("--fingerprint"), "\(unasked)")
    let wrong = try devices.first([
      "device", "approve", "--fingerprint", words.replacing(/[a-z]+$/, with: "q"),
    ])
    #expect(try devices.first(["device", "approve", "--fingerprint", "q"]).status == 2)
    #expect(wrong.status == 7 && wrong.error.contains("the words differ"), "\(wrong)")
    #expect(try devices.first(["device", "approve", "laptop", "--fingerprint", words]).status == 6)
    let approved = try devices.first(["device", "approve", "--fingerprint", words.uppercased(), "--json"])
    #expect(approved.status == 0 && approved.output.contains(#""name":"desktop""#), "\(approved)")

    let (here, there) = try devices.lists()
    #expect(here == there && here.contains("Lease") && here.contains("Boat"), "\(here)\(there)")
    let again = try ask()
    #expect(again.status == 9 && again.error.contains("has an account already"), "\(again)")
  }

  @Test("A coffer with a passphrase of its own is asked for that, and then for the account's")
  func ownPassphrase() throws {
    try devices.place.write("Nine-Lanterns-Above-The-Weir-2026\n", to: "pass3")
    func third(_ arguments: [String]) throws -> Place.Outcome {
      try devices.place.run(["--home", "third"] + arguments + ["--passphrase-file", "pass3"])
    }
    #expect(try third(["init", "--recovery-phrase-out", "words3"]).status == 0)
    let asked = try third(["remote", "join", "--card-file", "card", "--name", "tablet", "--json"])
    #expect(try devices.first(["device", "approve", "--fingerprint", words(asked)]).status == 0)
    #expect(try third(["sync"]).status == 0)
    let given = try third(["device", "revoke", "laptop", "--yes"])
    #expect(given.status == 4 && given.error.contains("but not the account"), "\(given)")
    let revoking = try CommandOnTerminal(
      ["--home", "third", "device", "revoke", "laptop", "--yes"], in: devices.place)
    try revoking.terminal.expect("passphrase of this coffer: ")
    revoking.terminal.type("Nine-Lanterns-Above-The-Weir-2026\r")
    try revoking.terminal.expect("The account has another one.")
    try revoking.terminal.expect("passphrase of the account: ")
    revoking.terminal.type("Nine-Lanterns-Above-The-Weir-2026\r")
    try revoking.terminal.expect("wrong passphrase; 2 tries left")
    try revoking.terminal.expect("passphrase of the account: ")
    revoking.terminal.type(Place.passphrase + "\r")
    let revoked = revoking.end()
    #expect(revoked.status == 0 && revoked.shown.contains("'laptop' is revoked"), "\(revoked)")
    // The account gets another passphrase, of which the device that was revoked hears nothing; it opens the account there.
    let given3 = try third(["account", "passphrase", "--former-passphrase-file", "pass"])
    #expect(given3.status == 0, "\(given3)")
    #expect(try devices.first(["sync"]).status == 7)
    let rejoining = try CommandOnTerminal(["device", "rejoin", "--yes"], in: devices.place)
    try rejoining.terminal.expect("passphrase of this coffer: ")
    rejoining.terminal.type(Place.passphrase + "\r")
    try rejoining.terminal.expect("passphrase of the account: ")
    rejoining.terminal.type("Nine-Lanterns-Above-The-Weir-2026\r")
    let back = rejoining.end()
    #expect(back.status == 0 && back.shown.contains("This device goes on as"), "\(back)")
  }

  @Test("On a terminal it waits until it is let in, and a question is asked there")
  func onTerminals() throws {
    let joining = try CommandOnTerminal(
      ["--home", "second", "remote", "join", "--card-file", "card", "--passphrase-file", "pass"],
      in: devices.place)
    let shown = try joining.terminal.expect("Waiting; Control-C ends that")
    let approving = try CommandOnTerminal(
      ["device", "approve", "--passphrase-file", "pass"], in: devices.place)
    let asked = try approving.terminal.expect("Does that device show the same twelve words? [y/N]: ")
    let row = try #require(
      shown.split(whereSeparator: \.isNewline).first { $0.contains(/^  [a-z]+ +[a-z]+ +[a-z]+ +[a-z]+/) })
    #expect(asked.contains(row.trimmingCharacters(in: .whitespaces)), "\(shown)\n\(asked)")
    approving.terminal.type("y\n")
    let approved = approving.end()
    #expect(approved.status == 0 && approved.shown.contains("belongs to the account"), "\(approved)")
    try joining.terminal.expect("This device belongs to the account as")
    let joined = joining.end()
    #expect(joined.status == 0 && joined.shown.contains("1 new here, 1 sent"), "\(joined)")
  }

  @Test("A no approves nothing, and Control-C ends the waiting alone")
  func declined() throws {
    let joining = try CommandOnTerminal(
      ["--home", "second", "remote", "join", "--card-file", "card", "--passphrase-file", "pass"],
      in: devices.place)
    try joining.terminal.expect("Waiting; Control-C ends that")
    joining.terminal.type("\u{3}")
    let ended = joining.end()
    #expect(ended.status == 130 && ended.shown.contains("'coffer sync' looks"), "\(ended)")
    let approving = try CommandOnTerminal(
      ["device", "approve", "--passphrase-file", "pass"], in: devices.place)
    try approving.answer("Does that device show the same twelve words? [y/N]: ", "")
    let declined = approving.end()
    #expect(declined.status == 7 && declined.shown.contains("nothing was approved"), "\(declined)")
    #expect(try devices.second(["sync"]).status == 7)
  }

  @Test("A new card takes the old one's place on all devices, for the passphrase and for requests")
  func newCard() throws {
    #expect(try devices.first(["remote", "card", "--new", "--pin-file", "pass"]).status == 2)
    // A file that is there is kept, and so is the card.
    let before = try devices.first(["remote", "card"]).output
    #expect(try devices.first(["remote", "card", "--new", "--out", "card"]).status == 9)
    #expect(try devices.first(["remote", "card"]).output == before)
    let made = try devices.first(["remote", "card", "--new", "--out", "card2"])
    #expect(made.status == 0 && made.error.contains("The account has a new card"), "\(made)")
    // A request with the old card is told from none.
    #expect(try ask(["--no-wait"]).status == 0)
    let foreign = try devices.first(["device", "approve"])
    #expect(foreign.status == 6 && foreign.error.contains("another card"), "\(foreign)")
    #expect(try devices.second(["remote", "forget", "--yes"]).status == 0)

    func restore(_ card: String, _ home: String) throws -> Place.Outcome {
      try devices.first([
        "--home", home, "remote", "restore", "--card-file", card, "--recovery-phrase-out", "\(home)-words",
      ])
    }
    let old = try restore("card", "third")
    #expect(old.status == 7 && old.error.contains("this card"), "\(old)")
    #expect(try restore("card2", "third").status == 0)
    let there = try devices.first(["--home", "third", "remote", "card"]).output
    #expect(try devices.first(["remote", "card"]).output == there)
  }
}
