// SPDX-License-Identifier: Apache-2.0
//
// `openssl speed` as a peer: another process, the same library, no Swift.

import Foundation

enum OpenSSLSpeed {
  struct NoFigure: Error {}

  /// Seconds for one operation on `byteCount` bytes, measured for one second of wall time.
  static func round(_ algorithm: String, byteCount: Int, options: [String] = []) throws -> Double {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      ["openssl", "speed", "-elapsed", "-seconds", "1", "-bytes", "\(byteCount)", "-mr"]
      + ["-evp", algorithm] + options
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(
      decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    // The last line: +F:number:algorithm:bytes per second
    guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("+F:") }),
      let rate = line.split(separator: ":").last.flatMap({ Double($0) }), rate > 0
    else { throw NoFigure() }
    return Double(byteCount) / rate
  }
}
