// SPDX-License-Identifier: Apache-2.0

import Foundation
import PseudoTerminals
import Testing

@Suite("The command without a terminal")
struct PinentryAndInterruptTests {
  /// A pinentry that notes what it is told, and gives the lines of the file "answers" one after another.
  private static let pinentry = #"""
    #!/bin/bash
    cd "$(dirname "$0")"
    echo "OK ready"
    while read -r line; do
      echo "$line" >> told
      case $line in
        GETPIN) head -n 1 answers | tr '|' '\n'; sed -i 1d answers ;;
        BYE) echo OK; exit ;;
        *) echo OK ;;
      esac
    done
    """#

  private func pinentry(in place: Place, _ answers: String) throws -> [String: String] {
    try place.write(answers, to: "answers")
    // An answer of several protocol lines stands on one line of the file.
    // Made by another process: one that this process had open for writing could be "busy" for a moment.
    let install = Process()
    install.executableURL = URL(filePath: "/usr/bin/install")
    let text = try place.write(Self.pinentry, to: "pinentry.text")
    let program = text.replacing("pinentry.text", with: "pinentry")
    install.arguments = ["-m", "700", text, program]
    try install.run()
    install.waitUntilExit()
    try #require(install.terminationStatus == 0)
    return ["COFFER_PINENTRY": program]
  }

  @Test("pinentry is asked for the passphrase, told what was wrong, and asked again")
  func pinentry() throws {
    let place = try Place()
    try place.makeCoffer()
    let environment = try pinentry(in: place, "D wrong one|OK\nD \(Place.passphrase)|OK\n")
    let run = try place.runProcess(["audit"], environment: environment)
    #expect(run.status == 0, "\(run.error)")
    #expect(run.output.contains("coffer made"))
    let told = try String(contentsOf: place.folder.appending(path: "told"), encoding: .utf8)
    #expect(told.contains("SETDESC To open the coffer in \(place.home.path())\n"))
    #expect(told.contains("SETPROMPT passphrase\n"))
    #expect(told.contains("SETERROR wrong passphrase; 2 tries left\n"))
  }

  @Test("Cancelling in pinentry ends with exit code 3")
  func cancelledPinentry() throws {
    let place = try Place()
    try place.makeCoffer()
    let run = try place.runProcess(
      ["--json", "audit"], environment: try pinentry(in: place, "ERR 83886179 cancelled\n"))
    #expect(run.status == 3)
    #expect(run.output.isEmpty)
    #expect(run.error == "{\"error\":{\"code\":\"cancelled\",\"message\":\"cancelled\"}}\n")
  }

  @Test("Interrupted, an import ends with 130, and as many messages as it says are there")
  func interruptedImport() throws {
    let place = try Place()
    try place.makeCoffer()
    var mailbox = ""
    for number in 1...60_000 {
      mailbox += "From a@example.org Mon Feb  2 08:12:00 2026\nSubject: Letter \(number)\n\n"
      mailbox += String(repeating: "Nothing new here today. ", count: 20) + "\n\n"
    }
    try place.write(mailbox, to: "big.mbox")
    // The threads of tests block signals, and what they start would inherit that.
    let unblocked = "sigprocmask(SIG_UNBLOCK, POSIX::SigSet->new(SIGINT)); $SIG{INT} = 'DEFAULT'; exec @ARGV"
    let process = place.process(
      URL(filePath: "/usr/bin/perl"),
      [
        "-MPOSIX", "-e", unblocked, Place.coffer.path, "message", "import", "mbox", "big.mbox",
        "--print-ids",
      ]
        + ["--passphrase-file", "pass"], [:])
    let (output, errors) = (Pipe(), Pipe())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    // The first ids say that a batch is on the disk, and that more are under way.
    var printed = output.fileHandleForReading.availableData
    kill(process.processIdentifier, SIGINT)
    printed += try output.fileHandleForReading.readToEnd() ?? Data()
    let said = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 130)

    let ids = String(decoding: printed, as: UTF8.self).split(separator: "\n").map(String.init)
    let reported = said.firstMatch(of: /interrupted; ([0-9]+) messages imported so far, and safe/)
    #expect(reported.flatMap { Int($0.1) } == ids.count, "\(said)")
    #expect(ids.count > 0 && ids.count < 60_000)
    let list = try place.run(["message", "list", "--passphrase-file", "pass"])
    #expect(list.status == 0)
    let listed = list.output.split(separator: "\n").map { String($0.prefix(36)) }
    #expect(Set(listed) == Set(ids))
    #expect(try place.run(["doctor", "--passphrase-file", "pass"]).status == 0)
  }
}
