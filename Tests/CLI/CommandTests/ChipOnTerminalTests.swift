// SPDX-License-Identifier: Apache-2.0
//
// The PIN's prompt, with a TPM in software.

#if TPM
  import Foundation
  import PseudoTerminals
  import SoftwareTPM
  import Testing

  @Suite("A chip on a terminal", .enabled(if: SoftwareTPM.isInstalled, "no swtpm"))
  struct ChipOnTerminalTests {
    private let place: Place
    private let tpm: SoftwareTPM
    private var environment: [String: String] { ["COFFER_TCTI": tpm.tcti] }

    init() throws {
      place = try Place()
      tpm = try SoftwareTPM()
      try place.makeCoffer()
      let pin = try place.write("864209\n", to: "pin")
      let added = try place.runProcess(
        ["slot", "add", "tpm", "--pin-file", pin, "--passphrase-file", "pass"],
        environment: ["COFFER_TCTI": tpm.tcti])
      try #require(added.status == 0, "\(added.error)")
    }

    @Test("A wrong PIN says how many tries the chip has left; the passphrase, typed out of habit, costs none")
    func tries() throws {
      let command = try CommandOnTerminal(["audit", "--quiet"], in: place, environment: environment)
      try command.answer("PIN (nothing: use the passphrase): ", "975310")
      try command.terminal.expect("wrong PIN; ")
      let before = try #require(Int(command.terminal.expect(" tr").dropLast(3)))
      try command.terminal.expect("left until the TPM locks itself")
      try command.answer("PIN (nothing: use the passphrase): ", Place.passphrase)
      #expect(command.end().status == 0)

      let again = try CommandOnTerminal(["audit", "--quiet"], in: place, environment: environment)
      try again.answer("PIN (nothing: use the passphrase): ", Place.passphrase + "?")
      try again.terminal.expect("wrong PIN; ")
      #expect(try Int(again.terminal.expect(" tr").dropLast(3)) == before - 1)
      let long = String(repeating: "long ", count: 20)
      try again.answer("PIN (nothing: use the passphrase): ", long)
      try again.terminal.expect("a PIN has at most 64 characters")
      try again.answer("PIN (nothing: use the passphrase): ", "864209")
      #expect(again.end().status == 0)
    }
  }
#endif
