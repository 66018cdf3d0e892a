// SPDX-License-Identifier: Apache-2.0
//
// A server of PostgreSQL for tests, on loopback, in a temporary folder: a database `coffer` with the table
// that `coffer remote policy postgresql` makes, the role `ada`, who writes, and `ada_sweeper`, who may delete
// as well. It does not run as root. A shell ends it and removes the folder when the test process ends,
// however it ends.

import Foundation
import Glibc
public import Remotes
import Secrets
public import Testing

/// A program that failed.
public struct PostgreSQLServerError: Error {
  let words: [String]
}

/// `postgres` on a port of 127.0.0.1.
public final class PostgreSQLServer: @unchecked Sendable {
  /// Where the server's programs are: Debian has a folder for each version.
  private static let programs: String? = {
    let root = "/usr/lib/postgresql"
    let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap { Int($0) }
    return versions.sorted().reversed().map { "\(root)/\($0)/bin" }.first {
      access($0 + "/initdb", X_OK) == 0
    }
  }()
  /// Whether there is such a server here.
  public static let isInstalled = programs != nil && access("/usr/bin/psql", X_OK) == 0
  public static let absence: Comment = "the server of PostgreSQL is not installed: scripts/packages"

  /// One server for all tests of this process that leave it as it was.
  public static let shared = Result { try PostgreSQLServer() }

  public static let database = "coffer"
  public static let password = "p/a:s@s w%rd"

  public private(set) var port: UInt16 = 0
  /// Of its key, as a place has it.
  public let pin: String
  private let folder: String
  private let leash: Int32
  private let shell = Process()
  private let diskByteCount: Int?

  /// Makes a database cluster and starts the server.
  /// - Parameter diskByteCount: of a disk for a tablespace, in memory; nil for none. Only root may have one.
  public init(diskByteCount: Int? = nil) throws {
    self.diskByteCount = diskByteCount
    try #require(Self.isInstalled, Self.absence)
    // The path of a socket is short, and the server's user has to pass.
    folder = "/tmp/pg-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    if geteuid() == 0 { try Self.run(["/usr/bin/chown", "postgres:", folder]) }
    leash = try Self.holdLeash(shell, folder)
    try Self.run(
      Self.user + [
        Self.program("initdb"), "-D", folder + "/data", "-U", "admin", "--auth-local=trust",
        "--auth-host=scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions",
      ])
    pin = try Self.makeCertificate(folder)
    let lines =
      [
        "listen_addresses = '127.0.0.1'", "unix_socket_directories = '\(folder)'",
        "shared_buffers = 16MB", "max_connections = 60", "wal_level = minimal", "max_wal_senders = 0",
        "fsync = off", "jit = off", "ssl = on", "ssl_cert_file = '\(folder)/certificate'",
        "ssl_key_file = '\(folder)/key'",
      ]
    try Self.run(
      Self.user + ["/bin/sh", "-c", "cat >> \"$0\"", folder + "/data/postgresql.conf"],
      input: lines.joined(separator: "\n") + "\n")
    try startAtFreePort()
    try sql("CREATE DATABASE \(Self.database)", database: "postgres")
    try sql(RemotePolicy.postgreSQL)
    try addUser("ada", in: "coffer_writer")
    try addUser("ada_sweeper", in: "ada, coffer_sweeper")
  }

  deinit {
    close(leash)
    shell.waitUntilExit()
  }

  // MARK: Running

  /// Another process may take a port between the choice and the start.
  private func startAtFreePort() throws {
    for tries in (0..<3).reversed() {
      port = try Self.freePort()
      do { return try start() } catch  where tries > 0 {}
    }
  }

  /// Starts it, and waits until it answers.
  public func start() throws {
    var prefix = Self.apart
    if let diskByteCount {
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      prefix += [
        "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
        "mount -t tmpfs -o size=\(diskByteCount) tmpfs \"$0\" && chown postgres: \"$0\" && exec \"$@\"", disk,
      ]
    }
    try Self.run(
      prefix + Self.user + [
        Self.program("pg_ctl"), "-D", folder + "/data", "-l", folder + "/log", "-o", "-p \(port)", "-w", "-t",
        "600",
        "-s", "start",
      ])
  }

  /// Words before a program that starts servers: these must not have descriptors of this process, by which
  /// Foundation would wait for their end.
  public static let apart = [
    "/bin/bash", "-c",
    """
    for file in /proc/$$/fd/*; do number=${file##*/}; ((number < 3)) || eval "exec $number>&-"; done
    exec "$@" >/dev/null
    """, "apart",
  ]

  /// Where the disk for a tablespace is, for the server.
  var disk: String { folder + "/disk" }

  /// Ends all of its processes at once, as a loss of power does.
  public func kill9() throws {
    let process = try #require(postmaster())
    // Its children notice that.
    kill(process, SIGKILL)
    while try isAnyoneLeft() { usleep(10_000) }
    // A new server would take one that is dead, and that nobody has waited for, for one that runs.
    for lock in ["/data/postmaster.pid", "/.s.PGSQL.\(port).lock"] {
      try? FileManager.default.removeItem(atPath: folder + lock)
    }
  }

  /// The first process; nil when there is none.
  func postmaster() -> pid_t? {
    let text = try? String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
    return text?.split(separator: "\n").first.flatMap { pid_t($0) }
  }

  private func isAnyoneLeft() throws -> Bool {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").contains { process in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")) == folder + "/data"
    }
  }

  // MARK: Administration

  /// Runs SQL as the administrator.
  /// - Returns: the values, a line for each row, "|" between columns.
  @discardableResult
  public func sql(_ text: String, database: String = PostgreSQLServer.database) throws -> String {
    try Self.run(
      Self.user + [
        "/usr/bin/psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-h", folder, "-p", "\(port)",
        "-U", "admin", "-d", database, "-f", "-",
      ], input: text)
  }

  /// A role that logs in with ``password``.
  /// - Parameter groups: as in SQL.
  public func addUser(_ name: String, in groups: String) throws {
    let quoted = name.replacing("\"", with: "\"\"")
    try sql("CREATE ROLE \"\(quoted)\" LOGIN PASSWORD '\(Self.password)' IN ROLE \(groups)")
  }

  /// What was logged: errors, without the statements of clients that failed.
  public func log() throws -> String { try Self.run(Self.user + ["/bin/cat", folder + "/log"]) }

  // MARK: Places

  /// The rows of `ada`, with the right to delete unless another user is named.
  public func place(
    isEncrypted: Bool = false, host: String = "127.0.0.1", port: UInt16? = nil,
    database: String = PostgreSQLServer.database, account: String? = "ada", user: String = "ada_sweeper",
    password: String = PostgreSQLServer.password, pin: String? = nil
  ) throws -> PostgreSQLPlace {
    try PostgreSQLPlace(
      isEncrypted: isEncrypted, host: host, port: port ?? self.port, database: database, account: account,
      user: user, password: SharedSecretBytes(SecretBytes(copying: Array(password.utf8).span.bytes)), pin: pin
    )
  }
}

extension PostgreSQLServer {
  /// The server refuses to run as root.
  fileprivate static let user =
    geteuid() == 0
    ? ["/usr/bin/setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] : []

  fileprivate static func program(_ name: String) -> String { (programs ?? "") + "/" + name }

  /// A port that nobody listens on.
  public static func freePort() throws -> UInt16 {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) + getsockname(listener, address, &length)
      }
    }
    try #require(code == 0)
    return UInt16(bigEndian: address.sin_port)
  }

  /// A certificate that no authority vouches for, which the server reads.
  /// - Returns: the pin.
  fileprivate static func makeCertificate(_ folder: String) throws -> String {
    let openssl = user + ["/usr/bin/openssl"]
    try run(
      openssl + [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
        folder + "/key", "-out", folder + "/certificate",
      ])
    let script =
      "openssl pkey -in \"$0\" -pubout -outform DER | openssl dgst -sha256 -binary | openssl base64"
    let hash = try run(user + ["/bin/sh", "-c", script, folder + "/key"])
    return "sha256//" + hash.trimmingCharacters(in: .newlines)
  }

  /// Starts the shell that ends the server.
  /// - Returns: the descriptor that only this process has.
  fileprivate static func holdLeash(_ shell: Process, _ folder: String) throws -> Int32 {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw POSIXError(.EMFILE) }
    let script = """
      trap '' HUP INT TERM
      cat >/dev/null
      read -r process 2>/dev/null <"$1/data/postmaster.pid" && kill -QUIT "$process"
      # A process that nobody waits for stays as a zombie.
      for round in {1..600}; do
        grep -qs '^State:.[^Z]' "/proc/$process/status" || break
        sleep 0.05
      done
      rm -rf "$1"
      """
    shell.executableURL = URL(filePath: "/bin/bash")
    shell.arguments = ["-c", script, "leash", folder]
    shell.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = FileHandle.nullDevice
    try shell.run()
    return ends[1]
  }

  /// Runs a program to its end.
  /// - Returns: what it wrote.
  @discardableResult
  static func run(_ words: [String], input: String = "") throws -> String {
    let process = Process()
    let (standardInput, output) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: words[0])
    process.arguments = Array(words.dropFirst())
    process.currentDirectoryURL = URL(filePath: "/")
    process.standardInput = standardInput
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    try? standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try standardInput.fileHandleForWriting.close()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw PostgreSQLServerError(words: words) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
