// SPDX-License-Identifier: Apache-2.0
//
// The Stateless OpenPGP command: finds the subcommand, runs it, and says how it went. Specs/sop.md promises
// what it does.

internal import CSystem
internal import Glibc
internal import Secrets
internal import Texts

/// The whole program but for the process it runs in.
public enum SOPMain {
  /// Runs a command line, without the program's own name.
  /// - Returns: the exit code.
  public static func run(_ arguments: [String]) -> Int32 {
    // A reader that goes away is an error of writing like any other.
    signal(SIGPIPE, SIG_IGN)
    guard coffer_fill_standard_descriptors() == 0 else { return ExitCode.unspecifiedFailure.rawValue }
    var isDebugging = false
    do throws(Failure) {
      try run(arguments, isDebugging: &isDebugging)
      return ExitCode.ok.rawValue
    } catch {
      StandardStreams.note("coffer-sop: \(sanitized(error.message))")
      if let hint = error.hint { StandardStreams.note("hint: \(sanitized(hint))") }
      if isDebugging, let detail = error.detail { StandardStreams.note("debug: \(detail)") }
      return error.exit.rawValue
    }
  }

  private static func run(_ arguments: [String], isDebugging: inout Bool) throws(Failure) {
    // Bytes that are not UTF-8 were replaced on their way here, and would name another user or another file.
    guard !arguments.contains(where: { $0.unicodeScalars.contains("\u{FFFD}") }) else {
      throw Failure(.expectedText, "an argument is not text in UTF-8")
    }
    guard let name = arguments.first else {
      throw Failure(.missingArgument, "which subcommand?", hint: "coffer-sop --help")
    }
    if name == "--help" || name == "help" && arguments.count == 1 { return try StandardStreams.print(page) }
    let wanted = name == "help" ? arguments[1] : name == "--version" ? VersionCommand.name : name
    guard let command = subcommands.first(where: { $0.name == wanted }) else {
      throw Failure(.unsupportedSubcommand, "there is no subcommand '\(wanted)'", hint: "coffer-sop --help")
    }
    if name == "help" { return try StandardStreams.print(command.page + "\n") }
    let words = Array(arguments.dropFirst())
    let call = try Call(words, rules: command.options)
    if call.has("help") { return try StandardStreams.print(command.page + "\n") }
    isDebugging = call.has("debug")
    guard call.operands.count >= command.operandCounts.lowerBound else {
      let missing = command.operandNames.dropFirst(call.operands.count).joined(separator: " and ")
      throw Failure(
        .missingArgument, "an argument is missing: \(missing)", hint: "coffer-sop \(name) --help")
    }
    guard call.operands.count <= command.operandCounts.upperBound else {
      throw Failure(.unsupportedOption, "there are too many arguments", hint: "coffer-sop \(name) --help")
    }
    try InputDesignator.checkDescriptors(in: call.words)
    try prepareMemory()
    try command.run(call)
  }

  private static func prepareMemory() throws(Failure) {
    do {
      try SecretMemory.prepare()
    } catch {
      switch error {
      case .cannotLock:
        throw Failure(
          .unspecifiedFailure, "the system lets this process lock too little memory",
          hint: "raise the limit: ulimit -l 8192")
      case .staysDumpable:
        throw Failure(.unspecifiedFailure, "other processes could read this one's memory")
      }
    }
  }

  /// File names may hold anything, so not even a joiner is shown.
  private static func sanitized(_ text: String) -> String { TerminalText.line(text, keepsFormat: false) }

  static let subcommands: [any Subcommand.Type] = [
    VersionCommand.self, ListProfilesCommand.self, GenerateKeyCommand.self, ChangeKeyPasswordCommand.self,
    RevokeKeyCommand.self, ExtractCertCommand.self, UpdateKeyCommand.self, MergeCertsCommand.self,
    CertifyUserIDCommand.self,
    ValidateUserIDCommand.self, SignCommand.self, VerifyCommand.self, EncryptCommand.self,
    DecryptCommand.self,
    InlineDetachCommand.self, InlineVerifyCommand.self, InlineSignCommand.self, ArmorCommand.self,
    DearmorCommand.self,
  ]

  private static let page = """
    coffer-sop: OpenPGP without a key store (draft-dkg-openpgp-stateless-cli)

    usage: coffer-sop SUBCOMMAND [OPTIONS] [--] [ARGUMENTS]

      version                 what this is
      list-profiles           the profiles of a subcommand
      generate-key            make a secret key
      change-key-password     give a secret key another password
      revoke-key              end a key
      extract-cert            the certificate of a secret key
      update-key              bring a secret key up to date
      merge-certs             bring certificates together
      certify-userid          certify who holds a certificate
      validate-userid         whether authorities certify that
      sign | verify           detached signatures
      encrypt | decrypt       messages
      inline-sign | inline-verify | inline-detach
                              signatures with the data
      armor | dearmor         text around packets, and back

    Data goes from standard input to standard output. Keys, certificates and passwords are in files, in @ENV:NAME
    or in @FD:n. Every subcommand has --help, and --debug. Exit codes are in Specs/sop.md.

    example: coffer-sop generate-key 'Alice <alice@example.org>' > alice.key

    """
}
