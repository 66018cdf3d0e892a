// SPDX-License-Identifier: Apache-2.0
//
// A program for the tests of the courier's sandbox: enters it and calls one function of the C library. Arguments: the port
// that may be connected to, the name of the function, and its arguments, as "i" and a number, "t" and a text, or "p" for the
// parent process; or "connect" and a port of this machine. Says on
// standard output what the function returned, and errno.

import CSystem
import Glibc

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 2, let port = UInt16(words[0]) else { _exit(6) }

/// Connects to a port of this machine.
func connect(to port: UInt16) -> Int {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  address.sin_port = port.bigEndian
  let one = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  return withUnsafePointer(to: &address) { address in
    address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      Int(Glibc.connect(one, $0, socklen_t(MemoryLayout<sockaddr_in>.size)))
    }
  }
}

typealias Call = @convention(c) (Int, Int, Int, Int, Int, Int) -> Int
guard let symbol = dlsym(nil, words[1]) else { _exit(6) }
/// Arguments that are not passed are zero, which no function looks at.
let call = unsafeBitCast(symbol, to: Call.self)
var arguments = words.dropFirst(2).map { word in
  switch word.first {
  case "p": Int(getppid())
  case "i": Int(word.dropFirst()) ?? 0
  default: Int(bitPattern: strdup(String(word.dropFirst())))
  }
}
arguments += Array(repeating: 0, count: 6 - arguments.count)

coffer_prepare_name_service()
let step = coffer_enter_courier_sandbox(STDIN_FILENO, port)
guard step == 0 else { _exit(8) }
errno = 0
let result =
  words[1] == "connect"
  ? connect(to: words.count > 2 ? UInt16(words[2]) ?? 0 : 0)
  : call(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5])
let text = Array("\(Int32(truncatingIfNeeded: result)) \(errno)".utf8)
_ = text.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
_exit(0)
