// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// How fast the tutorial types and waits when it plays by itself.
struct TutorialPace: Sendable {
  /// 1 as people read; 0 without any pause.
  let speed: Double

  /// Milliseconds per character, typed and read.
  private static let typing = 45.0
  private static let reading = 35.0

  /// Types a text, character by character.
  func type(_ text: String, _ write: (String) -> Void) {
    guard speed > 0 else { return write(text) }
    for character in text {
      write(String(character))
      wait(Self.typing)
    }
  }

  /// Waits as long as somebody needs to read so many characters.
  func read(_ count: Int) { wait(Self.reading * Double(count)) }

  private func wait(_ milliseconds: Double) {
    guard speed > 0, !Interruption.isRequested else { return }
    // A signal ends it early, and the next look at `Interruption` ends the tutorial.
    _ = poll(nil, 0, Int32(clamping: Int(milliseconds / speed)))
  }
}
