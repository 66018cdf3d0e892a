// SPDX-License-Identifier: Apache-2.0
//
// A public part as a QR code: drawn on the terminal, or as a picture; where there is neither, its URL.

public import ArgumentParser
internal import CSystem
public import Contacts
internal import Foundation
internal import Glibc
internal import OpenPGP
internal import Pictures
internal import Secrets

/// What `identity qr` and `contact qr` have in common.
struct CodeOptions: ParsableArguments {
  static let usage = "[--png FILE] [--scheme cypherair|cypherairx] [--minimal]"
  static let page = """
    Draws the code on a terminal that is wide enough, dark on light. A pipe gets the URL that the code has.

      --png FILE  write a new picture instead, of 8 pixels a module
      --scheme    cypherair (the default), or cypherairx for newer programs
      --minimal   one user ID, and only the parts that are used now: for a public part that has no room
    """

  @Option(help: "Write a new picture.", completion: .file()) var png: String?
  @Option(help: "cypherair or cypherairx.") var scheme = PublicPartURL.Scheme.cypherair
  @Flag(help: "Leave out all that is not needed now.") var minimal = false

  func validate() throws { try FileArgument.check(png) }
}

extension PublicPartURL.Scheme: ExpressibleByArgument {}

/// The code of one public part.
struct CodeOutput {
  private let url: String
  private let code: QRCode
  private let fingerprint: Fingerprint

  struct Answer: Encodable {
    let fingerprint: String
    let url: String
    let errorCorrection: String
    let output: String?
  }

  /// - Parameter export: the command that writes this public part to a file.
  /// - Throws: `too_large_for_qr`.
  init(_ certificate: Certificate, _ options: CodeOptions, at now: Timestamp, export: String) throws {
    fingerprint = certificate.fingerprint
    let small = certificate.reducedToNecessities(at: now, policy: .standard)
    let whole = options.minimal ? small : certificate.reducedToHolderStatements()
    do {
      guard let found = try Self.code(of: whole, options.scheme) else {
        let isSmallEnough = try !options.minimal && Self.code(of: small, options.scheme) != nil
        throw Failure(
          .refused, "too_large_for_qr", "this public part has no room in a QR code",
          hint: isSmallEnough
            ? "--minimal leaves out all that is not needed now" : "'\(export)' writes it to a file")
      }
      (url, code) = found
    } catch let error as PictureError { throw Failure(makingCode: error) }
  }

  /// - Returns: nil when there is no room.
  private static func code(
    of certificate: Certificate, _ scheme: PublicPartURL.Scheme
  ) throws -> (url: String, code: QRCode)? {
    let url: String
    do { url = try PublicPartURL.text(of: certificate, scheme: scheme) } catch {
      guard error == .tooLong else { throw ContactError.url(error) }
      return nil
    }
    do { return (url, try QRCode(url)) } catch PictureError.tooLarge { return nil }
  }

  // MARK: Giving it

  /// Writes the picture, or draws on the terminal, or writes the URL.
  func give(_ options: CodeOptions, _ context: CommandContext) throws {
    if let path = options.png {
      try write(to: path)
    } else if !context.isJSON {
      if Terminal.isOutputTerminal {
        try draw(context)
      } else {
        Terminal.print("\(url)")
        context.remark(
          "standard output is not a terminal: it has the URL that the code would have; --png FILE writes a picture"
        )
      }
    }
    guard context.isJSON else { return }
    JSON.print(
      Answer(
        fingerprint: FingerprintText.plain(fingerprint), url: url,
        errorCorrection: code.errorCorrection.rawValue, output: options.png))
  }

  private func write(to path: String) throws {
    let picture: [UInt8]
    do { picture = try code.png() } catch { throw Failure(makingCode: error) }
    do throws(OpenPGPError) { try CommandSurroundings.current.files.publish(picture, as: path) } catch {
      throw Failure(openPGP: error, writing: path, option: "--png")
    }
  }

  /// No public part that can be written to has a narrower code: it has two keys, two signatures and a name.
  static let leastSideLength = 81

  /// Refuses a terminal that no code fits, before anybody is asked for anything.
  static func checkTerminal(_ options: CodeOptions, _ context: CommandContext) throws {
    guard options.png == nil, !context.isJSON, Terminal.isOutputTerminal else { return }
    try checkTerminal(width: leastSideLength, "a code is at least")
  }

  private static let hint = "--png FILE writes a picture"

  private static func checkTerminal(width: Int, _ words: String) throws {
    guard !Terminal.isDumb else {
      throw Failure(
        .refused, "terminal_unfit", "this terminal has no colours, and a code is dark on light", hint: hint)
    }
    let columns = Int(coffer_terminal_columns(CommandRun.current.environment.streams.output))
    // A terminal that does not say how large it is has no columns.
    guard columns == 0 || columns >= width else {
      throw Failure(
        .refused, "terminal_unfit", "\(words) \(width) columns wide, and this terminal \(columns)",
        hint: "make it wider, or its letters smaller; or \(hint)")
    }
  }

  private func draw(_ context: CommandContext) throws {
    try Self.checkTerminal(width: code.fullSideLength, "the code is")
    let rows = Int(coffer_terminal_rows(CommandRun.current.environment.streams.output))
    let graphics = TerminalGraphics.detect(environment: CommandRun.current.environment.variables)
    Terminal.write(Array(code.text(in256Colours: graphics != .none).utf8).rawSpan)
    if rows != 0, rows < code.textRowCount {
      context.remark("the code has \(code.textRowCount) lines, and this terminal \(rows): \(Self.hint)")
    }
  }
}
