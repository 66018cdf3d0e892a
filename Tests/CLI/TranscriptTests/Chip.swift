// SPDX-License-Identifier: Apache-2.0
//
// A TPM in software for a session, which the session tells what to do by the command `chip`:
//
//     chip lockout 3    from now on three wrong PINs lock it
//     chip replace      another chip is in its place
//     chip take-out     none is in its place
//
// The command hands its words through a named pipe and waits for the answer in another.

import Foundation
import SoftwareTPM

final class Chip: @unchecked Sendable {
  let tcti: String
  private let tpm: SoftwareTPM
  private let questions: String
  private let answers: String
  private let isOver = DispatchSemaphore(value: 0)

  /// Makes the chip, and the command in `bin`.
  /// - Parameter place: the folder of the session.
  init(in place: URL) throws {
    tpm = try SoftwareTPM()
    tcti = tpm.tcti
    questions = place.appending(path: "steps/chip.questions").path()
    answers = place.appending(path: "steps/chip.answers").path()
    for path in [questions, answers] {
      guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
    }
    let command = """
      #!/bin/bash
      echo "$*" >"$STEPS/chip.questions"
      read -r answer <"$STEPS/chip.answers"
      [[ $answer == done ]] || { echo "chip: $answer" >&2; exit 1; }

      """
    let file = place.appending(path: "bin/chip")
    try Data(command.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file.path())
    Thread.detachNewThread { [self] in serve() }
  }

  /// Ends the chip; the command gets no answer any more.
  func end() {
    // For both ways, so that it does not wait for the reader.
    let pipe = open(questions, O_RDWR | O_CLOEXEC)
    _ = write(pipe, "end\n", 4)
    isOver.wait()
    close(pipe)
    tpm.kill()
  }

  private func serve() {
    defer { isOver.signal() }
    // For both ways, so that no end is seen between two questions.
    let descriptor = open(questions, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0, let pipe = fdopen(descriptor, "r") else { return }
    defer { fclose(pipe) }
    // For both ways, so that it does not wait for a command that has ended meanwhile.
    let output = open(answers, O_RDWR | O_CLOEXEC)
    defer { close(output) }
    var buffer = [CChar](repeating: 0, count: 256)
    while fgets(&buffer, Int32(buffer.count), pipe) != nil {
      let bytes = buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
      let words = String(decoding: bytes, as: UTF8.self).split(separator: " ").map(String.init)
      if words == ["end"] { return }
      var answer = "done"
      do { try obey(words) } catch { answer = "\(error)".replacing("\n", with: " ") }
      let line = Array((answer + "\n").utf8)
      _ = write(output, line, line.count)
    }
  }

  private func obey(_ words: [String]) throws {
    switch (words.first, words.dropFirst().first.flatMap { Int($0) }) {
    case ("lockout", let tries?): try tpm.setLockout(tries: tries)
    case ("replace", nil): try tpm.replace()
    case ("take-out", nil): tpm.kill()
    default: throw POSIXError(.EINVAL)
    }
  }
}
