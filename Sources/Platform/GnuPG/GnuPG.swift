// SPDX-License-Identifier: Apache-2.0
//
// The keys of GnuPG, through gpg alone: its files have several formats, some of its keys are on cards, and its agent
// guards the rest. Everything that it gives out is read as input from anybody.

internal import Glibc
internal import Primitives
public import Secrets

/// An installation of GnuPG with its keys.
public struct GnuPG: Sendable {
  /// Where it is looked for.
  public static let usualProgram = "/usr/bin/gpg"
  /// Public parts for which one run is asked: arguments and output stay small.
  public static let publicPartBatch = 64
  /// Bytes of a batch, or of one flooded public part, that are taken.
  public static let publicByteCountLimit = 4 << 20
  /// Bytes of one private part with everything that is attached to it.
  public static let privateByteCountLimit = 4 << 20

  /// How long a run may take.
  public struct Patience: Sendable {
    /// A run that asks nobody. Two parts with a passphrase take seconds on a slow machine.
    public var seconds = 60
    /// A run in which its pinentry asks.
    public var pinentrySeconds = 300

    /// The usual times.
    public init() {}
  }

  /// Such as "2.2.40".
  public let version: String
  /// The folder of its keys.
  public let home: String
  private let program: String
  private let environment: [String]
  /// Tests change it once the program is found.
  var patience: Patience

  /// How a private part is asked for.
  public enum Asking: Sendable {
    /// Nobody is asked; parts without a passphrase come.
    case nobody
    /// With this passphrase.
    case passphrase(SharedSecretBytes)
    /// Its own pinentry asks.
    case pinentry
  }

  /// Asks gpg for its version.
  /// - Parameters:
  ///   - program: an absolute path.
  ///   - home: the folder of its keys; nil for `GNUPGHOME`, else `~/.gnupg`.
  ///   - variables: of the environment.
  /// - Throws: ``GnuPGError/missing``, ``GnuPGError/tooOld(version:)``, ``GnuPGError/noHome(_:)``,
  ///   ``GnuPGError/notAnswering``.
  public init(
    program: String = GnuPG.usualProgram, home: String? = nil, variables: [String: String],
    patience: Patience = Patience()
  ) throws(GnuPGError) {
    func variable(_ name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }
    environment = Self.environment(variable)
    self.program = program
    self.patience = patience
    self.home = home ?? variable("GNUPGHOME") ?? (variable("HOME") ?? "") + "/.gnupg"
    guard unsafe access(program, X_OK) == 0 else { throw .missing }
    var text: [UInt8] = []
    let call = GnuPGCall(
      program: program, arguments: ["--version"], environment: environment, byteCountLimit: 1 << 16,
      seconds: patience.seconds)
    _ = try GnuPGProcess.run(call) { text += [UInt8](copying: $0) }
    version = try Self.version(String(decoding: text, as: UTF8.self))
    // gpg would make one.
    guard unsafe access(self.home, R_OK | X_OK) == 0 else { throw .noHome(self.home) }
  }

  /// "gpg (GnuPG) 2.2.40"; 2.1 is the first whose agent has the private keys.
  static func version(_ text: String) throws(GnuPGError) -> String {
    let line = text.split(separator: "\n").first ?? ""
    guard line.hasPrefix("gpg (GnuPG"), let word = line.split(separator: " ").last else {
      throw .tooOld(version: nil)
    }
    let numbers = word.split(separator: ".").prefix(2).compactMap { Int($0) }
    guard numbers.count == 2 else { throw .tooOld(version: nil) }
    guard numbers[0] > 2 || numbers[0] == 2 && numbers[1] >= 1 else { throw .tooOld(version: String(word)) }
    return String(word)
  }

  // MARK: Lists

  /// The keys of which it knows a private part, wherever that is.
  /// - Throws: ``GnuPGError/notUnderstood``, ``GnuPGError/notAnswering``, ``GnuPGError/failed(code:)``.
  public func privateKeys() throws(GnuPGError) -> [GnuPGKey] { try list("--list-secret-keys") }

  /// All keys of which it has the public part.
  /// - Throws: as ``privateKeys()``.
  public func publicKeys() throws(GnuPGError) -> [GnuPGKey] { try list("--list-keys") }

  private func list(_ command: String) throws(GnuPGError) -> [GnuPGKey] {
    var text: [UInt8] = []
    let (exit, _) = try run(
      ["--with-colons", "--fixed-list-mode", command], byteCountLimit: 64 << 20
    ) { text += [UInt8](copying: $0) }
    guard exit == 0 else { throw .failed(code: 0) }
    return try GnuPGListing.keys(String(decoding: text, as: UTF8.self))
  }

  // MARK: Parts

  /// The public parts with these fingerprints, one after the other, not armored; those that it does not have are left
  /// out.
  /// - Throws: ``GnuPGError/tooLong(byteCountLimit:)``, ``GnuPGError/notAnswering``, ``GnuPGError/failed(code:)``.
  public func publicParts(_ fingerprints: [String]) throws(GnuPGError) -> SecretBytes {
    var kept = GrowingSecret()
    let (exit, _) = try run(
      ["--export-options", "no-export-local-sigs,no-export-attributes", "--export"] + fingerprints,
      byteCountLimit: Self.publicByteCountLimit
    ) { kept.append($0) }
    guard exit == 0 else { throw .failed(code: 0) }
    return kept.finish()
  }

  /// A private part, not armored: protected with the passphrase that it has with gpg, or with none.
  /// - Throws: ``GnuPGError/passphraseNeeded``, ``GnuPGError/wrongPassphrase``, ``GnuPGError/loopbackForbidden``,
  ///   ``GnuPGError/cancelled``, ``GnuPGError/tooLong(byteCountLimit:)``, ``GnuPGError/notAnswering``,
  ///   ``GnuPGError/failed(code:)``.
  public func privatePart(_ fingerprint: String, asking: Asking) throws(GnuPGError) -> SecretBytes {
    var kept = GrowingSecret()
    var passphrase: SharedSecretBytes?
    var options: [String] = []
    var seconds = patience.seconds
    switch asking {
    case .nobody: options = ["--pinentry-mode", "error"]
    case .passphrase(let given):
      passphrase = given
      options = [
        "--pinentry-mode", "loopback", "--passphrase-fd", "\(GnuPGProcess.passphraseDescriptor)",
      ]
    case .pinentry: seconds = patience.pinentrySeconds
    }
    let (exit, status) = try run(
      options + ["--export-secret-keys", fingerprint], passphrase: passphrase,
      byteCountLimit: Self.privateByteCountLimit, seconds: seconds
    ) { kept.append($0) }
    // A part that it skips does not always show in its exit status.
    if let error = Self.error(status) { throw error }
    guard exit == 0 else { throw .failed(code: 0) }
    return kept.finish()
  }

  /// The first error of a run, from a line `ERROR PLACE CODE`.
  static func error(_ status: [String]) -> GnuPGError? {
    for line in status {
      let words = line.split(separator: " ")
      guard words.count >= 3, words[0] == "ERROR", let code = UInt32(words[2]) else { continue }
      switch (words[1], code & 0xFFFF) {
      case ("set_pinentry_mode", _), (_, 60): return .loopbackForbidden
      case (_, 11): return .wrongPassphrase
      case (_, 85), (_, 86): return .passphraseNeeded
      case (_, 99), (_, 98): return .cancelled
      case (_, let number): return .failed(code: number)
      }
    }
    return nil
  }

  // MARK: Running

  private func run(
    _ arguments: [String], passphrase: SharedSecretBytes? = nil, byteCountLimit: Int, seconds: Int? = nil,
    take: (RawSpan) -> Void
  ) throws(GnuPGError) -> (exit: Int32, status: [String]) {
    let always = [
      "--homedir", home, "--batch", "--no-tty", "--no-armor", "--no-auto-check-trustdb", "--charset", "utf-8",
      "--status-fd", "\(GnuPGProcess.statusDescriptor)",
    ]
    let call = GnuPGCall(
      program: program, arguments: always + arguments, environment: environment, passphrase: passphrase,
      byteCountLimit: byteCountLimit, seconds: seconds ?? patience.seconds)
    return try GnuPGProcess.run(call, take: take)
  }

  /// Little: where its files and its agent are, and where its pinentry can ask.
  private static func environment(_ variable: (String) -> String?) -> [String] {
    let names = [
      "HOME", "USER", "LOGNAME", "XDG_RUNTIME_DIR", "TERM", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
      "DBUS_SESSION_BUS_ADDRESS",
    ]
    let terminal = variable("GPG_TTY") ?? standardTerminal
    return ["LC_ALL=C", "PATH=/usr/local/bin:/usr/bin:/bin"]
      + names.compactMap { name in variable(name).map { "\(name)=\($0)" } }
      + (terminal.map { ["GPG_TTY=\($0)"] } ?? [])
  }

  /// The terminal of standard input; nil if it is something else.
  private static var standardTerminal: String? {
    guard let name = unsafe ttyname(STDIN_FILENO) else { return nil }
    return unsafe String(cString: name)
  }
}

/// Bytes in locked memory whose number is not known before.
private struct GrowingSecret: ~Copyable {
  private var bytes = SecretBytes(zeroed: 4_096)
  private var count = 0

  mutating func append(_ piece: RawSpan) {
    if count + piece.byteCount > bytes.count {
      var larger = SecretBytes(zeroed: max(bytes.count * 2, count + piece.byteCount))
      let used = count
      bytes.withBytes { old in larger.withMutableBytes { $0.copy(old.extracting(first: used), to: 0) } }
      bytes = larger
    }
    let start = count
    bytes.withMutableBytes { $0.copy(piece, to: start) }
    count += piece.byteCount
  }

  consuming func finish() -> SecretBytes {
    bytes.shorten(to: count)
    return bytes.duplicate()
  }
}
