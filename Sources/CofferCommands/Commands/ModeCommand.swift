// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import KeyCustody
internal import ProtectedData
internal import UserAuthentication

struct ModeCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "mode", abstract: "What every use of a private key asks for.")
  static let page = """
    coffer mode: show or change what every use of an OpenPGP private key asks for

    usage: coffer mode [standard|high-security] [--acknowledge-no-backup]
                       [--passphrase-fd N | --passphrase-file PATH | --pin-fd N | --pin-file PATH]

      standard       a finger, or the passphrase or PIN
      high-security  a finger and nothing else: without a reader that works, decrypting, signing and
                     exporting wait

    All keys change together or none does. Going over to high-security asks for a finger, and coming back
    does too. Keys without a backup are lost with the fingers:

      --acknowledge-no-backup  go on although some private keys have no backup

    example: coffer mode high-security
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The next mode.") var mode: ModeName?
  @Flag(help: "Go on although some private keys have no backup.") var acknowledgeNoBackup = false

  struct Answer: Encodable {
    let mode: String
    let keys: Int
  }

  func execute(_ session: Session) throws {
    let coffer = try session.open(opening, needing: mode == nil ? .session : .person)
    let open = try coffer.openPrivateKeys()
    let custody = open.custody
    if open.recovery == .unrecoverable {
      session.note("Some private keys are incomplete after an interrupted change: import them from a backup.")
    }
    let present = try custody.mode()
    if let mode, mode.mode != present {
      try coffer.switchMode(
        custody, to: mode.mode, authorization(session, coffer, custody),
        acknowledgesMissingBackup: acknowledgeNoBackup)
    }
    let answer = Answer(
      mode: ModeName(try custody.mode()).rawValue, keys: try custody.fingerprints().count)
    if session.isJSON {
      JSON.print(answer)
    } else {
      Terminal.print(answer.mode)
    }
    if mode != nil {
      session.note(
        mode?.mode == present
          ? "That is the mode already." : "\(answer.keys.counted("private key")) changed together.")
    }
  }

  /// One of the two modes takes nothing but a finger, and both are needed to go from one to the other.
  private func authorization(
    _ session: Session, _ coffer: Coffer, _ custody: PrivateKeyCustody
  ) throws -> CustodyAuthorization {
    let finger = try session.authenticator().evaluate(
      .deviceOwnerWithBiometrics, passcode: session.request("finger", problem: nil)
    ) { _ in false }
    return try coffer.authorization(custody, finger: finger)
  }
}

enum ModeName: String, ExpressibleByArgument, CaseIterable {
  case standard
  case highSecurity = "high-security"

  init(_ mode: AuthenticationMode) {
    self =
      switch mode {
      case .standard: .standard
      case .highSecurity: .highSecurity
      }
  }

  var mode: AuthenticationMode {
    switch self {
    case .standard: .standard
    case .highSecurity: .highSecurity
    }
  }
}
