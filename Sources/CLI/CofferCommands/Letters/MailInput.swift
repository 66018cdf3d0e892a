// SPDX-License-Identifier: Apache-2.0
//
// Where mails come from: a file, an mbox, or the coffer.

internal import CofferKit
internal import Correspondence
internal import MessageFormats
internal import OpenPGP
internal import Secrets
internal import Vaults

enum MailInput {
  /// Whether a source begins like a mail; it is still at its beginning.
  static func isMail(_ source: any ByteSource) throws -> Bool {
    do throws(OpenPGPError) {
      return try source.withNext { (beginning) throws(OpenPGPError) in MailTree.isMail(beginning) }
    } catch {
      throw Failure(openPGP: error)
    }
  }

  /// All of a source.
  static func read(_ source: any ByteSource, _ path: String) throws -> SharedSecretBytes {
    let sink = MailSink()
    do throws(OpenPGPError) {
      while true {
        let count = try source.withNext { (next) throws(OpenPGPError) in
          try sink.write(next)
          return next.byteCount
        }
        if count == 0 { return sink.finish() }
        source.consume(count)
      }
    } catch {
      throw sink.isTooLong ? MailError.tooLarge : Failure(openPGP: error, writing: path)
    }
  }

  /// A message of the coffer.
  static func message(
    _ which: String, _ coffer: Coffer, _ context: CommandContext
  ) throws -> SharedSecretBytes {
    try coffer.vault.withMessage(MessageChoice.id(which, coffer, context)) { _, content in
      SharedSecretBytes(SecretBytes(copying: content))
    }
  }

  /// One mail of an mbox, from one on.
  static func mail(_ number: Int, inMbox path: String) throws -> SharedSecretBytes {
    var found: SharedSecretBytes?
    try each(inMbox: path) { at, content in
      if at == number { found = SharedSecretBytes(SecretBytes(copying: content)) }
      return at < number
    }
    guard let found else {
      throw Failure(.missing, "not_found", "'\(path)' has no mail \(number)")
    }
    return found
  }

  /// Shows the mails of an mbox to `body` with their numbers, until it returns false.
  static func each(inMbox path: String, _ body: (Int, RawSpan) throws -> Bool) throws {
    do {
      var source = try MboxSource(path: CommandSurroundings.current.files.path(path))
      var (number, goesOn) = (0, true)
      while goesOn {
        number += 1
        guard try source.next({ _, content in goesOn = try body(number, content) }) else { return }
      }
    } catch let error as MessageFormatError {
      throw Failure(error, naming: path)
    }
  }
}
