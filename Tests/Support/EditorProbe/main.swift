// SPDX-License-Identifier: Apache-2.0
//
// A program for the tests of editors. Started as the process that runs the editor it is that; otherwise it has a text,
// its first argument, edited by the editor of its environment, and says on standard output what came of it.

import Editing
import Glibc
import Secrets

let words = Array(CommandLine.arguments.dropFirst())
if words.first == EditorWorker.argument { EditorWorker.run(words) }

do {
  let text = SecretBytes(copying: Array((words.first ?? "").utf8).span.bytes)
  let edited = try text.withBytes { bytes throws(EditorError) in
    try TextEditor().edit(bytes, ending: "txt", byteCountLimit: 1000)
  }
  switch consume edited {
  case .unchanged: print("unchanged")
  case .changed(let text):
    print("changed")
    text.withBytes { bytes in
      bytes.withUnsafeBytes { print(String(decoding: $0, as: UTF8.self)) }
    }
  }
} catch {
  print("\(error)")
}
