// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CSystem
internal import CofferKit
internal import Foundation
internal import Glibc
internal import MessageFormats
internal import Pictures
internal import Primitives
internal import Remotes
internal import Secrets
internal import Syncing

struct RemoteCardCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "card", abstract: "Print what a restore needs besides the passphrase.")
  static let page = """
    coffer remote card: print the address of the account, which a restore needs besides the passphrase

    usage: coffer remote card [--new] [--qr | --out FILE]
                              \(OpeningOptions.usage)

    Print it on paper and keep it with the twelve words. Alone it opens nothing; with the passphrase or the
    words it opens everything. The address of a service has the key for that, too.

      --new       first make a new card, as when the old one was lost, or a device that was open. With the
                  old one, the passphrase opens nothing any more that is sent from now on. Needs the
                  passphrase; others that the account has leave it. The twelve words open it as before
      --qr        draw it as a QR code on the terminal
      --out FILE  write it to a new file (mode 0600) and nothing to the terminal

    example: coffer remote card --out card.txt
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Flag(help: "First make a new card.") var new = false
  @Flag(help: "Draw it as a QR code.") var qr = false
  @Option(help: "Write it to a new file.", completion: .file()) var out: String?

  func validate() throws {
    try FileArgument.check(out)
    if qr, out != nil { throw ValidationError("give --qr or --out, not both") }
    if new, opening.pin.isGiven || opening.securityKey {
      throw ValidationError("a new card needs the passphrase")
    }
    if qr, global.json { throw ValidationError("--qr draws on a terminal, and --json is for programs") }
  }

  func execute(_ context: CommandContext) throws {
    if qr, !Terminal.isOutputTerminal || Terminal.isDumb {
      throw Failure(
        .refused, "terminal_unfit", "a code is dark on light, so it needs a terminal with colours",
        hint: "leave out --qr, and the address is printed")
    }
    guard new else { return try show(OpenAccount(context.open(opening)), context) }
    let (account, ending) = try replaceCard(context)
    do {
      try show(account, context)
      try ending.check(context)
    } catch {
      // The card is another one, whatever came of the rest.
      var failure = Failure(error)
      failure.message = "the account has a new card, but \(failure.message)"
      failure.hint =
        "'coffer sync' tells the other devices, and 'coffer remote card' prints the new card again"
      throw failure
    }
  }

  private func show(_ account: OpenAccount, _ context: CommandContext) throws {
    let card = try account.synchronizer.address().text()
    if let out {
      try write(card, to: out)
      if context.isJSON { JSON.print(["output": out]) }
    } else if qr {
      try draw(card)
    } else if context.isJSON {
      // Every character of an address is one that JSON takes as it is.
      print(Array("{\"address\":\"".utf8), card, Array("\"}\n".utf8))
    } else {
      print([], card, Array("\n".utf8))
    }
    context.remark(
      "\(out.map { "\($0) is" } ?? "This is") the card of your account. Print it, and keep it with the twelve words that the account was made with."
    )
    switch account.place {
    case .folder: break
    case .s3, .postgreSQL:
      context.remark("It holds the name and password for the service too: whoever has it can write there.")
    }
    context.remark(
      "Alone it opens nothing. With the passphrase or the words, 'coffer remote restore' gets everything with it."
    )
  }

  /// Gives the account a new card, and the other devices its secret.
  private func replaceCard(_ context: CommandContext) throws -> (OpenAccount, SyncEnding) {
    let (coffer, secret) = try AccountOpening(passphrase: opening.passphrase, phrase: PhraseOptions())
      .openByPassphrase(context)
    context.advise(coffer)
    let account = try OpenAccount(coffer)
    guard !account.synchronizer.awaitsApproval else { throw SyncError.notApproved }
    // Before anything is changed: can it be shown?
    if let out {
      guard !FileManager.default.fileExists(atPath: out) else {
        throw Failure(MessageFormatError.alreadyExists, naming: out)
      }
      do { _ = try CommandSurroundings.current.files.make(out, record: nil, needsName: false) } catch {
        throw Failure(error, naming: out)
      }
    }
    if qr { _ = try code(of: account.synchronizer.address().text()) }
    let ending = try AccountSlotsChange(account, context).makeCard(with: secret)
    context.remark(
      "The account has a new card. With the old one, the passphrase opens nothing any more; the twelve words do."
    )
    return (account, ending)
  }

  private func print(_ start: [UInt8], _ card: borrowing SecretBytes, _ end: [UInt8]) {
    Terminal.flush()
    Terminal.write(start.rawSpan)
    card.withBytes { Terminal.write($0) }
    Terminal.write(end.rawSpan)
  }

  private func write(_ card: borrowing SecretBytes, to path: String) throws {
    do {
      let file = try CommandSurroundings.current.files.make(path, record: nil, needsName: false)
      var code = card.withBytes { Terminal.writeAll($0, to: file.descriptor) }
      if code == 0 { code = Terminal.writeAll([UInt8(ascii: "\n")].rawSpan, to: file.descriptor) }
      guard code == 0 else { throw MessageFormatError.cannotWrite(errno: code) }
      try file.synchronise()
      try file.claimName()
    } catch let error as MessageFormatError { throw Failure(error, naming: path) }
  }

  /// The card is on the screen then, so that text may be a String.
  private func draw(_ card: borrowing SecretBytes) throws {
    let graphics = TerminalGraphics.detect(environment: CommandRun.current.environment.variables)
    Terminal.write(Array(try code(of: card).text(in256Colours: graphics != .none).utf8).rawSpan)
  }

  private func code(of card: borrowing SecretBytes) throws -> QRCode {
    let text = card.withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
    let code: QRCode
    do { code = try QRCode(text) } catch { throw Failure(makingCode: error) }
    let columns = Int(coffer_terminal_columns(CommandRun.current.environment.streams.output))
    guard columns == 0 || columns >= code.fullSideLength else {
      throw Failure(
        .refused, "terminal_unfit",
        "the code is \(code.fullSideLength) columns wide, and this terminal \(columns)",
        hint: "make it wider, or its letters smaller; or leave out --qr")
    }
    return code
  }
}
