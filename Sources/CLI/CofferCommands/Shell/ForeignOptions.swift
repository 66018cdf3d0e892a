// SPDX-License-Identifier: Apache-2.0
//
// Options that GnuPG, head or git have under other names: whoever types them is told the name here. They are not
// accepted, so that there is one name for one thing.

enum ForeignOptions {
  private static let names = [
    "-r": "--to", "--recipient": "--to", "-u": "--as", "--local-user": "--as", "-o": "--output",
    "-a": "--armor", "--clear-sign": "--clear", "--clearsign": "--clear", "-n": "--limit",
  ]

  /// The first such option that this command has under another name; nil if there is none.
  static func known(in line: ArgumentOrder.Sorted) -> (option: String, name: String)? {
    for option in line.options {
      guard let name = names[String(option.prefix { $0 != "=" })] else { continue }
      if line.command.page.contains(name) { return (option, name) }
    }
    return nil
  }
}
