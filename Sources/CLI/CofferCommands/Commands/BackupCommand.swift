// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Backups
internal import Captures
internal import CofferKit
internal import Identities
internal import KeyCustody
internal import MessageFormats
internal import ProtectedData
internal import UserAuthentication

struct BackupCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy the whole coffer into one encrypted file.")
  static let page = """
    coffer backup: copy the whole coffer into one encrypted file, while it is in use

    usage: coffer backup FILE [--with-identities | --without-identities]
                         \(OpeningOptions.usage)

    The file opens on any machine with a passphrase or the twelve words that the coffer has now; 'coffer
    restore' makes a coffer of it. Private parts of identities are sealed to this machine and come along only
    with --with-identities, which needs the passphrase or PIN even during a session. On a terminal you are
    asked; on a pipe they stay here.

      --with-identities     take the private parts of your identities too
      --without-identities  leave them here, and do not ask

    Overwrites nothing. The file (mode 0600) appears once all of it was written and read back. Keep it where
    this machine is not.

    example: coffer backup /media/stick/2026-11-22.coffer-backup
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Flag(help: "Take the private parts of your identities too.") var withIdentities = false
  @Flag(help: "Leave the private parts of your identities here.") var withoutIdentities = false
  @Argument(help: "The file to write.", completion: .file()) var file: String

  struct Answer: Encodable {
    let output: String
    let byteCount: Int
    let messages: Int
    let captures: Int
    /// Captures without photos in the file: they are not on this device.
    let capturesWithoutPhotos: Int
    let contacts: Int
    /// Those whose private parts are in the file.
    let identities: Int
    /// Those whose private parts are not.
    let identitiesLeftOut: Int
    let verified: Bool
  }

  func validate() throws {
    try FileArgument.check(file)
    if withIdentities, withoutIdentities {
      throw ValidationError("give --with-identities or --without-identities, not both")
    }
  }

  func execute(_ context: CommandContext) throws {
    var coffer = try context.open(opening)
    do { try BackupWriter.checkPlace(file) } catch { throw Failure(error, naming: file) }
    var privateParts: BackupOfPrivateParts?
    if try takesIdentities(coffer, context) {
      let parts = try context.privateParts(coffer, opening, "to back up your identities", sealing: true)
      coffer = parts.coffer
      // Private keys without metadata get it again, so that it comes along too.
      _ = try coffer.openIdentities(parts.authorization)
      privateParts = BackupOfPrivateParts(custody: parts.custody, authorization: parts.authorization)
    }
    let report: BackupReport
    do { report = try write(coffer, privateParts, context) } catch let error as MessageFormatError {
      throw Failure(error, naming: file)
    }
    try tell(report, coffer, context)
  }

  private func write(
    _ coffer: Coffer, _ privateParts: BackupOfPrivateParts?, _ context: CommandContext
  ) throws -> BackupReport {
    let record = context.unfinishedExports()
    Interruption.catchOnce()
    var bar = ProgressBar("backing up", isQuiet: context.isQuiet || context.isJSON)
    defer { bar.finish() }
    return try coffer.backUp(to: file, privateParts: privateParts, record: record) { done, total in
      bar.update(bytes: done, of: total)
      return !Interruption.isRequested
    }
  }

  /// Whether the private parts come along: as the options say, else as the user says, else not.
  private func takesIdentities(_ coffer: Coffer, _ context: CommandContext) throws -> Bool {
    if withoutIdentities { return false }
    let count = try coffer.openPrivateKeys().custody.places(asking: false).count
    guard count > 0 else { return false }
    if withIdentities { return true }
    guard context.hasTerminal, Terminal.isErrorTerminal, !context.isJSON else { return false }
    let identities = count.counted("identity", "identities")
    switch try coffer.openPrivateKeys().custody.mode() {
    case .standard, .standardWithFinger:
      return try context.terminal().confirm(
        "Take your \(identities) too, so that they open on another machine with the coffer's passphrase?",
        isYesByDefault: true)
    case .highSecurityWithFinger, .highSecurityWithGuard:
      return try context.confirm(
        "Take your \(identities) too? Then this file and the passphrase alone would open them, without finger, "
          + "PIN or key.")
    }
  }

  private func tell(_ report: BackupReport, _ coffer: Coffer, _ context: CommandContext) throws {
    let leftOut = report.identityCount - report.privatePartCount
    let awayCount = try coffer.captures.listing().captures.count { !$0.isWhole }
    if context.isJSON {
      JSON.print(
        Answer(
          output: file, byteCount: report.fileByteCount, messages: report.messageCount,
          captures: report.captureCount, capturesWithoutPhotos: awayCount, contacts: report.contactCount,
          identities: report.privatePartCount, identitiesLeftOut: leftOut, verified: true))
    } else {
      remark(report, leftOut, awayCount, try coffer.authenticationMode().isHighSecurity, context)
    }
    guard report.lostPrivatePartCount == 0 else {
      let words = report.lostPrivatePartCount.counted("private key")
      throw Failure(
        .corrupt, "private_keys_lost", "the backup is made, without \(words) that cannot be opened any more",
        hint: "'coffer recovery-state' names them; keep older backups that have them")
    }
  }

  private func remark(
    _ report: BackupReport, _ leftOut: Int, _ awayCount: Int, _ isHighSecurity: Bool,
    _ context: CommandContext
  ) {
    let held = [
      report.messageCount.counted("message"), report.captureCount.counted("capture"),
      report.contactCount.counted("contact"), report.privatePartCount.counted("identity", "identities"),
    ]
    context.remark(
      "Written and read back: \(held.joined(separator: ", ")); \(ByteCount.text(report.fileByteCount)).")
    if awayCount > 0 {
      context.remark(
        "Not in it: the photos of \(awayCount.counted("capture")), which \(awayCount == 1 ? "is" : "are") not on "
          + "this device. 'coffer capture keep --all' gets them.")
    }
    let sealedCount = leftOut - report.lostPrivatePartCount
    if sealedCount > 0 {
      context.remark(
        "Not in it: \(sealedCount.counted("identity", "identities")), sealed to this machine. --with-identities takes "
          + "them along.")
    }
    if report.privatePartCount > 0, isHighSecurity {
      context.remark("This file and the passphrase alone open your identities, without finger or guard.")
    }
    context.remark("It opens with the passphrase or the recovery phrase. Keep it where this machine is not.")
  }
}
