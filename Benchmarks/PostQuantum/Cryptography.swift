// SPDX-License-Identifier: Apache-2.0
//
// PyPI's `cryptography` as a peer: another process, which times itself.

import Foundation

enum Cryptography {
  static let name = "cryptography (Python)"

  struct NoFigure: Error {}

  private static let python = ".build/peers/bin/python3"

  static let isInstalled = (try? run(["--version"])) != nil

  /// Seconds for one operation, as a mean of `duration` seconds.
  static func round(_ operation: String, for duration: Double) throws -> Double {
    guard let seconds = Double(try run([operation, "\(duration)"])), seconds > 0 else { throw NoFigure() }
    return seconds
  }

  private static func run(_ arguments: [String]) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: python)
    process.arguments = ["Benchmarks/PostQuantum/with_cryptography.py"] + arguments
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw NoFigure() }
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
