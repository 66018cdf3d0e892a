// SPDX-License-Identifier: Apache-2.0
//
// Lines with a secret that are neither a passphrase nor words: the URL of a place and the address of an account. They
// come from a file, a descriptor or a prompt; blanks and line ends in them do not count.

internal import ArgumentParser
internal import Couriers
internal import Foundation
internal import Glibc
internal import Remotes
internal import Secrets
internal import Syncing
internal import UserAuthentication

/// Where the URL of a place comes from.
struct PlaceOptions: ParsableArguments {
  static let usage = "[--url-file PATH | --url-fd N]"

  @Option(name: .customLong("url-file"), help: "Read the URL from this file.", completion: .file())
  var file: String?
  @Option(name: .customLong("url-fd"), help: "Read the URL from this descriptor.") var fd: GivenDescriptor?

  var isGiven: Bool { fd != nil || file != nil }

  func validate() throws { try SecretLine.checkOneSource(fd: fd, file: file) }

  /// The place.
  /// - Parameter argument: a folder's URL.
  func place(_ argument: String?, _ context: CommandContext) throws -> RemotePlace {
    if let argument {
      // The list of processes shows arguments.
      guard !argument.hasPrefix("s3:"), !argument.hasPrefix("postgres") else {
        throw Failure.usage(
          "the URL of a service has its secret, and others can see arguments",
          hint:
            "give it with --url-file or --url-fd, or at the prompt; and change the secret, others may have seen it"
        )
      }
      return try RemotePlace(url: Array(argument.utf8).rawSpan)
    }
    let line = SecretLine(what: "URL of the place", option: "--url")
    return try line.ask(fd: fd, file: file, context) { try RemotePlace(url: $0) }
  }

  /// The place of the account, with the credentials that were given for this command, if any were.
  func samePlace(as known: RemotePlace, _ context: CommandContext) throws -> RemotePlace {
    guard isGiven else { return known }
    let given = try place(nil, context)
    guard given.hasObjects(of: known) else {
      throw Failure.usage(
        "this URL is of another place than the account's",
        hint: "'coffer remote show' says where the account is")
    }
    return given
  }
}

/// A place that an account is to be at: a folder as an argument, or the URL of any place.
struct NewPlaceOptions: ParsableArguments {
  static let usage = "[folder:///PATH | \(PlaceOptions.usage.dropFirst())"

  @OptionGroup var place: PlaceOptions
  @Argument(help: "The URL of a folder.") var url: String?

  var isGiven: Bool { url != nil || place.isGiven }

  func validate() throws {
    if url != nil, place.isGiven { throw ValidationError("give the URL once") }
  }

  /// The place, opened, after a look whether it is there: a folder that is not mounted must never be made.
  func open(_ context: CommandContext) throws -> (RemotePlace, any Remote) {
    let place = try place.place(url, context)
    do {
      let remote = try place.reached()
      _ = try remote.stat("coffer/probe")
      try Interruption.letGo()
      return (place, remote)
    } catch RemoteError.unreachable {
      guard case .folder(let path) = place, let name = path.split(separator: "/").last else {
        throw RemoteError.unreachable
      }
      var failure = Failure(remote: .unreachable)
      let parent = (path as NSString).deletingLastPathComponent
      if FileManager.default.fileExists(atPath: parent) {
        failure.message = "there is no folder '\(name)' in \(parent)"
        failure.hint = "if that is the right disk, make the folder with mkdir; else mount the disk first"
      }
      throw failure
    }
  }
}

/// Where the address of an account comes from.
struct CardOptions: ParsableArguments {
  static let usage = "[--card-file PATH | --card-fd N]"

  @Option(name: .customLong("card-file"), help: "Read the card from this file.", completion: .file())
  var file: String?
  @Option(name: .customLong("card-fd"), help: "Read the card from this descriptor.") var fd: GivenDescriptor?

  func validate() throws { try SecretLine.checkOneSource(fd: fd, file: file) }

  func address(_ context: CommandContext) throws -> AccountAddress {
    let line = SecretLine(what: "address on the card", option: "--card")
    return try line.ask(fd: fd, file: file, context) { try AccountAddress($0) }
  }
}

/// A line with a secret.
struct SecretLine {
  /// For prompts and messages.
  let what: String
  /// The common beginning of the options that give it.
  let option: String

  /// Reads it, or asks for it until it is well made.
  /// - Parameter read: throws for a line that is not well made.
  func ask<R>(
    fd: GivenDescriptor?, file: String?, _ context: CommandContext, _ read: (RawSpan) throws -> R
  ) throws -> R {
    context.warn(ofOpenFiles: [file].compactMap(\.self))
    if let given = try given(fd: fd, file: file) { return try given.withBytes { try read($0) } }
    let prompt = try context.prompt(for: "the \(what)", hint: "use \(option)-file or \(option)-fd")
    var problem: String?
    for attempt in 1...CommandContext.promptTries {
      let typed = Self.withoutBlanks(try prompt.ask(PromptRequest(what, problem: problem)))
      do { return try typed.withBytes { try read($0) } } catch {
        guard attempt < CommandContext.promptTries else { throw error }
        problem = CommandContext.triesLeft(Failure(error).message, attempt)
      }
    }
    throw PromptError.cancelled
  }

  private func given(fd: GivenDescriptor?, file: String?) throws -> SecretBytes? {
    guard fd != nil || file != nil else { return nil }
    let line: SecretBytes
    do throws(SecretReadError) {
      if let fd {
        line = try SecretBytes.read(fromDescriptor: fd.get(), byteCountLimit: Self.byteCountLimit)
      } else {
        line = try InputFile.read(file ?? "", byteCountLimit: Self.byteCountLimit)
      }
    } catch {
      if let file, error == .cannotOpen(errno: ENOENT) {
        throw Failure(
          .missing, "no_such_file", "\(file): there is no such file", hint: "check \(option)-file")
      }
      throw Failure.usage(
        "the \(what) cannot be read", hint: "check \(option)-file and \(option)-fd")
    }
    return Self.withoutBlanks(line)
  }

  /// A URL has no blanks: they are the paper's. Nor has it the byte order mark that some editors begin a file with.
  private static func withoutBlanks(_ line: borrowing SecretBytes) -> SecretBytes {
    var short = SecretBytes(zeroed: max(1, line.count))
    var count = 0
    line.withBytes { bytes in
      short.withMutableBytes { kept in
        for offset in 0..<bytes.byteCount {
          let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
          guard byte > 0x20, count > 0 || !Self.byteOrderMark.contains(byte) else { continue }
          kept.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
          count += 1
        }
      }
    }
    short.shorten(to: count)
    return short
  }

  private static let byteOrderMark: Set<UInt8> = [0xEF, 0xBB, 0xBF]
  private static let byteCountLimit = 2 * RemotePlace.byteCountLimit

  static func checkOneSource(fd: GivenDescriptor?, file: String?) throws {
    if fd != nil, file != nil { throw ValidationError("give a descriptor or a file, not both") }
  }
}
