// SPDX-License-Identifier: Apache-2.0
//
// The programs that own a clipboard: one of them stays for as long as the text is to be had, and the desktop asks it for
// the text at each paste. When something else is copied, it loses the clipboard and ends. So the text is there exactly
// as long as the program, and to end it takes back what is still ours and nothing else.

internal import Glibc

/// A program that holds a text for a desktop's clipboard.
public struct ClipboardTool: Sendable, Equatable {
  /// The programs that are known.
  public enum Kind: String, CaseIterable, Sendable {
    case wlCopy = "wl-copy"
    case xclip
    case xsel

    /// Words with which it reads the text from its standard input and stays in the foreground.
    var arguments: [String] {
      switch self {
      // A type, or it would have other programs guess one.
      case .wlCopy: ["--foreground", "--type", "text/plain"]
      case .xclip: ["-selection", "clipboard", "-in", "-quiet"]
      case .xsel: ["--clipboard", "--input", "--nodetach"]
      }
    }

    /// Whether it keeps the text in a file in /tmp, as wl-copy does, and not in its memory.
    var writesFile: Bool { self == .wlCopy }

    /// The variable that is set where its clipboard is.
    fileprivate var display: String {
      switch self {
      case .wlCopy: "WAYLAND_DISPLAY"
      case .xclip, .xsel: "DISPLAY"
      }
    }
  }

  public let kind: Kind
  let path: String

  /// Those that are installed and have a clipboard, the best first.
  /// - Parameter environment: the value of a variable; nil where it is not set.
  public static func installed(_ environment: (String) -> String?) -> [ClipboardTool] {
    let folders = (environment("PATH") ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
    return Kind.allCases.compactMap { (kind) -> ClipboardTool? in
      guard environment(kind.display).map({ !$0.isEmpty }) ?? false else { return nil }
      for folder in folders {
        let path = "\(folder)/\(kind.rawValue)"
        if unsafe access(path, X_OK) == 0 { return ClipboardTool(kind: kind, path: path) }
      }
      return nil
    }
  }
}
