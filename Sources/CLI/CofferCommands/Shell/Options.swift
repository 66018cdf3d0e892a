// SPDX-License-Identifier: Apache-2.0
//
// The options that many commands share. They may also come before the command: `ArgumentOrder` moves them after it.

internal import ArgumentParser
internal import Glibc
internal import Keychains
internal import Secrets
internal import UserAuthentication

struct GlobalOptions: ParsableArguments {
  @Option(help: "Where the coffer is.", completion: .directory) var home: String?
  @Flag(help: "Answer in JSON.") var json = false
  @Flag(help: "Say nothing but the answer.") var quiet = false
  @Flag(help: "Show long output without a pager.") var noPager = false

  /// The coffer's directory.
  var homePath: String { CommandSurroundings.current.home(home) }
}

struct PassphraseOptions: ParsableArguments {
  static let usage = "[--passphrase-fd N | --passphrase-file PATH]"

  @Option(name: .customLong("passphrase-fd"), help: "Read the passphrase from this descriptor.") var fd:
    GivenDescriptor?
  @Option(
    name: .customLong("passphrase-file"), help: "Read the passphrase from this file.", completion: .file())
  var file: String?

  var isGiven: Bool { fd != nil || file != nil }

  func validate() throws { try Passphrase.checkOneSource(fd: fd, file: file) }

  /// The passphrase from a descriptor or a file; nil when neither is named.
  func given() throws -> Passphrase? {
    try Passphrase.given(fd: fd, file: file, reading: "passphrase", option: "--passphrase")
  }

  /// The passphrase to open with. An impossible passphrase, such as an empty one, counts as a wrong one.
  func opening() throws -> Passphrase? {
    try Passphrase.opening { try given() }
  }
}

struct PINOptions: ParsableArguments {
  static let usage = "[--pin-fd N | --pin-file PATH]"

  @Option(name: .customLong("pin-fd"), help: "Read the chip's PIN from this descriptor.")
  var fd: GivenDescriptor?
  @Option(name: .customLong("pin-file"), help: "Read the chip's PIN from this file.", completion: .file())
  var file: String?

  var isGiven: Bool { fd != nil || file != nil }

  func validate() throws { try Passphrase.checkOneSource(fd: fd, file: file) }

  /// The PIN as it was typed; nil when none is named.
  func given() throws -> SharedSecretBytes? {
    try Passphrase.givenPIN(fd: fd, file: file, reading: "PIN", option: "--pin")
  }
}

/// The PIN of the guard of high security.
struct GuardPINOptions: ParsableArguments {
  static let usage = "[--guard-pin-fd N | --guard-pin-file PATH]"

  @Option(name: .customLong("guard-pin-fd"), help: "Read the guard's PIN from this descriptor.")
  var fd: GivenDescriptor?
  @Option(
    name: .customLong("guard-pin-file"), help: "Read the guard's PIN from this file.", completion: .file())
  var file: String?

  func validate() throws { try Passphrase.checkOneSource(fd: fd, file: file) }

  var isGiven: Bool { fd != nil || file != nil }

  func given() throws -> SharedSecretBytes? {
    try Passphrase.givenPIN(fd: fd, file: file, reading: "guard's PIN", option: "--guard-pin")
  }
}

struct NewGuardPINOptions: ParsableArguments {
  static let usage = "[--new-guard-pin-fd N | --new-guard-pin-file PATH]"

  @Option(name: .customLong("new-guard-pin-fd"), help: "Read the new guard's PIN from this descriptor.")
  var fd: GivenDescriptor?
  @Option(
    name: .customLong("new-guard-pin-file"), help: "Read the new guard's PIN from this file.",
    completion: .file())
  var file: String?

  func validate() throws { try Passphrase.checkOneSource(fd: fd, file: file) }

  func given() throws -> SharedSecretBytes? {
    try Passphrase.givenPIN(fd: fd, file: file, reading: "new guard's PIN", option: "--new-guard-pin")
  }
}

/// A passphrase or PIN that is given with options instead of typed at a prompt.
struct OpeningOptions: ParsableArguments {
  static let usage = "[--passphrase-fd N | --passphrase-file PATH | --pin-fd N | --pin-file PATH]"

  @OptionGroup var passphrase: PassphraseOptions
  @OptionGroup var pin: PINOptions
  /// For commands that use private parts.
  @OptionGroup var guardPIN: GuardPINOptions
  @Flag(help: "Open with the security key that is plugged in.") var securityKey = false

  /// The files that hold a secret.
  var files: [String] { [passphrase.file, pin.file, guardPIN.file].compactMap(\.self) }

  var isGiven: Bool { securityKey || passphrase.isGiven || pin.isGiven }

  func validate() throws {
    if passphrase.isGiven, pin.isGiven {
      throw ValidationError("give a passphrase or a PIN, not both")
    }
    if passphrase.isGiven, securityKey {
      throw ValidationError("give a passphrase or a security key, not both")
    }
  }
}

struct NewPassphraseOptions: ParsableArguments {
  static let usage = "[--new-passphrase-fd N | --new-passphrase-file PATH]"

  @Option(name: .customLong("new-passphrase-fd"), help: "Read the new passphrase from this descriptor.")
  var fd: GivenDescriptor?
  @Option(
    name: .customLong("new-passphrase-file"), help: "Read the new passphrase from this file.",
    completion: .file())
  var file: String?

  func validate() throws { try Passphrase.checkOneSource(fd: fd, file: file) }

  func given() throws -> Passphrase? {
    try Passphrase.given(fd: fd, file: file, reading: "new passphrase", option: "--new-passphrase")
  }
}

/// The passphrase that an account has, while its coffer has another one.
struct FormerPassphraseOptions: ParsableArguments {
  @Option(
    name: .customLong("former-passphrase-fd"), help: "Read the former passphrase from this descriptor.")
  var fd: GivenDescriptor?
  @Option(
    name: .customLong("former-passphrase-file"), help: "Read the former passphrase from this file.",
    completion: .file())
  var file: String?

  var isGiven: Bool { fd != nil || file != nil }

  func validate() throws { try Passphrase.checkOneSource(fd: fd, file: file) }

  /// An impossible passphrase, such as an empty one, counts as a wrong one.
  func opening() throws -> Passphrase? {
    try Passphrase.opening {
      try .given(fd: fd, file: file, reading: "former passphrase", option: "--former-passphrase")
    }
  }
}

struct BackupPassphraseOptions: ParsableArguments {
  static let usage = "[--backup-passphrase-fd N | --backup-passphrase-file PATH]"

  @Option(
    name: .customLong("backup-passphrase-fd"), help: "Read the backup's passphrase from this descriptor.")
  var fd: GivenDescriptor?
  @Option(
    name: .customLong("backup-passphrase-file"), help: "Read the backup's passphrase from this file.",
    completion: .file())
  var file: String?

  var isGiven: Bool { fd != nil || file != nil }

  func validate() throws { try Passphrase.checkOneSource(fd: fd, file: file) }

  func given() throws -> Passphrase? {
    try Passphrase.given(
      fd: fd, file: file, reading: "passphrase of the backup", option: "--backup-passphrase")
  }
}

struct KeyPassphraseOptions: ParsableArguments {
  static let usage = "[--key-passphrase-fd N | --key-passphrase-file PATH]"

  @Option(name: .customLong("key-passphrase-fd"), help: "Read the file's passphrase from this descriptor.")
  var fd: GivenDescriptor?
  @Option(
    name: .customLong("key-passphrase-file"), help: "Read the file's passphrase from this file.",
    completion: .file())
  var file: String?

  func validate() throws { try Passphrase.checkOneSource(fd: fd, file: file) }

  func given() throws -> Passphrase? {
    try Passphrase.given(fd: fd, file: file, reading: "passphrase of the file", option: "--key-passphrase")
  }
}

struct PhraseOptions: ParsableArguments {
  static let usage = "[--phrase-fd N | --phrase-file PATH]"

  @Option(name: .customLong("phrase-fd"), help: "Read the recovery phrase from this descriptor.")
  var fd: GivenDescriptor?
  @Option(
    name: .customLong("phrase-file"), help: "Read the recovery phrase from this file.", completion: .file())
  var file: String?

  var isGiven: Bool { fd != nil || file != nil }

  func validate() throws { try Passphrase.checkOneSource(fd: fd, file: file) }

  func given() throws -> Passphrase? {
    do { return try Passphrase.given(fd: fd, file: file, .words) } catch let error as PassphraseError {
      guard case .unreadable = error else {
        throw Failure(
          .wrongSecret, "bad_phrase", "this is not a recovery phrase", hint: "it has twelve words")
      }
      throw Failure.usage(
        "the recovery phrase cannot be read", hint: "check --phrase-file and --phrase-fd")
    }
  }
}

extension Passphrase {
  fileprivate static func given(
    fd: GivenDescriptor?, file: String?, _ content: FileContent = .line
  ) throws -> Passphrase? {
    if let fd {
      let descriptor: Int32
      do throws(SecretReadError) { descriptor = try fd.get() } catch {
        throw PassphraseError.unreadable(error)
      }
      return try Passphrase.read(descriptor: descriptor, content)
    }
    guard let file else { return nil }
    let descriptor = CommandSurroundings.current.files.open(file)
    guard descriptor >= 0 else { throw PassphraseError.unreadable(.cannotOpen(errno: errno)) }
    defer { close(descriptor) }
    return try Passphrase.read(descriptor: descriptor, content)
  }

  /// The same, with errors that say what could not be read.
  /// - Parameter option: the common beginning of the two options.
  fileprivate static func given(
    fd: GivenDescriptor?, file: String?, reading what: String, option: String
  ) throws -> Passphrase? {
    do { return try given(fd: fd, file: file) } catch let error as PassphraseError {
      throw Failure(passphrase: error, reading: what, option: option, file: file)
    }
  }

  /// A passphrase to open with.
  fileprivate static func opening(_ given: () throws -> Passphrase?) throws -> Passphrase? {
    do { return try given() } catch var failure as Failure {
      if failure.exit == .refused { (failure.exit, failure.code) = (.wrongSecret, "wrong_secret") }
      throw failure
    }
  }

  /// A PIN as it was typed.
  fileprivate static func givenPIN(
    fd: GivenDescriptor?, file: String?, reading what: String, option: String
  ) throws -> SharedSecretBytes? {
    guard let typed = try given(fd: fd, file: file, reading: what, option: option) else { return nil }
    return SharedSecretBytes(typed)
  }

  fileprivate static func checkOneSource(fd: GivenDescriptor?, file: String?) throws {
    if fd != nil, file != nil { throw ValidationError("give a descriptor or a file, not both") }
  }
}
