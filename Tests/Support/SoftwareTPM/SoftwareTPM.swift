// SPDX-License-Identifier: Apache-2.0
//
// A TPM in software (swtpm) for tests, on a unix socket in a folder of its own. It ends with this value, and
// with the test process: a shell beside it waits for the end of a pipe whose other end only this process has.

import Foundation

/// A running swtpm.
public final class SoftwareTPM: @unchecked Sendable {
  public struct Failed: Error {
    public let reason: String
  }

  /// Whether the programs are here; `scripts/packages` installs them.
  public static var isInstalled: Bool {
    ["/usr/bin/swtpm", "/usr/bin/tpm2_getcap"].allSatisfy(FileManager.default.isExecutableFile)
  }

  private let folder: URL
  /// Ends a hang; what comes is never waited for that long.
  private static let patienceSeconds = 600.0

  private var process: Process?
  /// Closed, it ends the chip.
  private var leash: FileHandle?
  private var stateNumber = 0

  /// Makes a chip and starts it.
  public init() throws {
    let base = FileManager.default.temporaryDirectory
    folder = base.appending(path: "tpm-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try manufacture()
    try start()
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  /// What names this chip to the TCTI loader; the same before and after a restart or a replacement.
  public var tcti: String { "swtpm:path=\(socket)" }

  private var socket: String { folder.appending(path: "s").path }
  private var state: String { folder.appending(path: "state-\(stateNumber)").path }

  /// Ends the chip as a power cut would.
  public func kill() {
    guard let process else { return }
    try? leash?.close()
    process.waitUntilExit()
    self.process = nil
  }

  /// Starts the chip again, with the state that it had.
  public func restart() throws {
    stop()
    try start()
  }

  /// Puts another chip in its place.
  public func replace() throws {
    stop()
    stateNumber += 1
    try manufacture()
    try start()
  }

  /// Runs one of the tpm2-tools' commands on this chip, such as `clear` or `dictionarylockout`.
  public func run(_ tool: String, _ arguments: String...) throws {
    try Self.run("/usr/bin/tpm2_\(tool)", arguments + ["-T", tcti])
  }

  /// Sets after how many wrong tries the chip locks, and after how many seconds it forgives one.
  public func setLockout(tries: Int, seconds: Int = 1_000) throws {
    try run(
      "dictionarylockout", "--setup-parameters", "--max-tries=\(tries)", "--recovery-time=\(seconds)",
      "--lockout-recovery-time=\(seconds)")
  }

  /// Puts a storage root key at 0x81000001, as whoever sets up a machine does.
  public func makePersistentRoot(_ algorithm: String) throws {
    try run("createprimary", "--hierarchy=o", "--key-algorithm=\(algorithm)", "--key-context=\(path("root"))")
    try run("evictcontrol", "--hierarchy=o", "--object-context=\(path("root"))", "0x81000001")
    try run("flushcontext", "--transient-object")
  }

  /// How many objects and sessions the chip holds for whoever talked to it.
  public func loadedCount() throws -> Int {
    try ["handles-transient", "handles-loaded-session", "handles-saved-session"].reduce(0) { sum, kind in
      sum + (try Self.run("/usr/bin/tpm2_getcap", [kind, "-T", tcti])).split(separator: "\n").count
    }
  }

  /// The indexes of non-volatile memory that are defined.
  public func indexes() throws -> [UInt32] {
    try Self.run("/usr/bin/tpm2_getcap", ["handles-nv-index", "-T", tcti]).split(separator: "\n").map {
      line in
      guard let index = UInt32(line.dropFirst("- 0x".count), radix: 16) else {
        throw Failed(reason: "no index: \(line)")
      }
      return index
    }
  }

  /// Deletes a counter, and defines it again as whoever may use the chip can: with the same public area, and
  /// without an authorization value.
  public func forgeCounter(at index: UInt32) throws {
    let place = "0x" + String(index, radix: 16)
    try Data(try policy(of: place)).write(to: URL(filePath: path("policy")))
    try run("nvundefine", place)
    try run(
      "nvdefine", place, "--size=8", "--attributes=nt=counter|authread|authwrite|no_da",
      "--policy=\(path("policy"))")
    try run("nvincrement", place, "--hierarchy=\(place)")
  }

  /// The policy digest in the public area of an index.
  private func policy(of place: String) throws -> [UInt8] {
    let page = try Self.run("/usr/bin/tpm2_nvreadpublic", [place, "-T", tcti])
    let label = "authorization policy: "
    guard let line = page.split(separator: "\n").first(where: { $0.contains(label) }),
      let digits = line.split(separator: " ").last, digits.count == 64
    else { throw Failed(reason: "no policy: \(page)") }
    return stride(from: 0, to: digits.count, by: 2).compactMap { offset in
      UInt8(digits.dropFirst(offset).prefix(2), radix: 16)
    }
  }

  /// Defines indexes until none has room.
  public func fill() throws {
    var reason = ""
    // Large ones first; the last room is kept for counters.
    for options in [
      ["--size=2048"], ["--size=128"], ["--size=8", "--attributes=nt=counter|authread|authwrite"],
    ] {
      do { while true { try Self.run("/usr/bin/tpm2_nvdefine", options + ["-T", tcti]) } } catch {
        reason = "\(error)"
      }
    }
    guard reason.contains("insufficient space") else { throw Failed(reason: reason) }
  }

  /// Descriptors of this process that lead to the chip's sockets: other suites open others meanwhile.
  public func descriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
      var address = sockaddr_un()
      var length = socklen_t(MemoryLayout<sockaddr_un>.size)
      let found = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          getpeername(Int32(name) ?? -1, $0, &length)
        }
      }
      guard found == 0, address.sun_family == AF_UNIX else { return false }
      let path = withUnsafeBytes(of: &address.sun_path) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      return path.hasPrefix(self.path(""))
    }
  }

  /// A folder of this chip's own, for what the tools read and write.
  public func path(_ name: String) -> String { folder.appending(path: name).path }

  /// Ends the chip as a machine that is switched off does.
  private func stop() {
    if process != nil { try? run("shutdown", "--clear") }
    kill()
  }

  /// swtpm makes a new chip, with seeds of its own, of a folder that is empty.
  private func manufacture() throws {
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
  }

  private func start() throws {
    for path in [socket, socket + ".ctrl"] { unlink(path) }
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c", "\"$@\" </dev/null & cat >/dev/null; kill -9 $!; wait 2>/dev/null", "swtpm",
      "/usr/bin/swtpm", "socket", "--tpm2", "--tpmstate", "dir=\(state)",
      "--server", "type=unixio,path=\(socket)", "--ctrl", "type=unixio,path=\(socket).ctrl",
      "--flags", "not-need-init,startup-clear",
    ]
    let leash = Pipe()
    process.standardInput = leash
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = process
    self.leash = leash.fileHandleForWriting
    let deadline = Date.now.addingTimeInterval(Self.patienceSeconds)
    while !Self.listens(socket) || !Self.listens(socket + ".ctrl") {
      guard process.isRunning, Date.now < deadline else { throw Failed(reason: "swtpm does not start") }
      usleep(2_000)
    }
  }

  /// Whether somebody takes calls at a socket.
  private static func listens(_ path: String) -> Bool {
    let descriptor = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }

  @discardableResult
  private static func run(_ path: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    // Both say little: neither pipe can fill while the other is read.
    let said = output.fileHandleForReading.readDataToEndOfFile()
    let complaint = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failed(reason: "\(path): \(String(decoding: complaint, as: UTF8.self))")
    }
    return String(decoding: said, as: UTF8.self)
  }
}
