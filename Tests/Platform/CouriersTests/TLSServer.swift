// SPDX-License-Identifier: Apache-2.0
//
// A server with TLS and a certificate of its own: the command openssl, which answers GET with files that hold whole
// answers. It looks at no signature, but whoever got the answer has trusted the server.

import Foundation
import Glibc
import Testing

/// `openssl s_server` on a free port of 127.0.0.1, until it is released.
final class TLSServer {
  let port: UInt16
  /// Of its key, as libcurl writes it.
  let pin: String
  private let process = Process()
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let (key, certificate) = (folder.appending(path: "key").path, folder.appending(path: "certificate").path)
    try Self.run([
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
      "/CN=localhost",
      "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", "2", "-keyout", key, "-out",
      certificate,
    ])
    let publicKey = try Self.run(["pkey", "-in", key, "-pubout", "-outform", "DER"])
    let hash = try Self.run(["dgst", "-sha256", "-binary"], input: publicKey)
    pin = "sha256//" + hash.base64EncodedString()

    let account = folder.appending(path: "coffer/account")
    try FileManager.default.createDirectory(at: account, withIntermediateDirectories: true)
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
    try Data(answer.utf8).write(to: account.appending(path: "a"))

    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = ["s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate, "-HTTP"]
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    // "ACCEPT 127.0.0.1:PORT" once it listens.
    var text = ""
    while !text.contains(/ACCEPT \S+\n/) {
      let more = output.fileHandleForReading.availableData
      try #require(!more.isEmpty, "openssl does not listen: \(text)")
      text += String(decoding: more, as: UTF8.self)
    }
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("ACCEPT") })
    port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
  }

  deinit {
    // Threads of tests block SIGTERM, and so does what they start.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Runs openssl to its end.
  @discardableResult
  static func run(_ arguments: [String], input: Data = Data()) throws -> Data {
    let process = Process()
    let (standardInput, output) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = arguments
    process.standardInput = standardInput
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    try standardInput.fileHandleForWriting.write(contentsOf: input)
    try standardInput.fileHandleForWriting.close()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    return bytes
  }
}
