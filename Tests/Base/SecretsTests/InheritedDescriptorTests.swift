// SPDX-License-Identifier: Apache-2.0

import Glibc
import Secrets
import Testing

@Suite("Descriptors that a user names")
struct InheritedDescriptorTests {
  @Test("Only what is open for the use is taken, and the duplicate is the same file, for no other program")
  func uses() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let (reading, writing) = (ends[0], ends[1])
    defer { for end in ends where end >= 0 { close(end) } }
    #expect(InheritedDescriptor(reading, for: .writing) == nil)
    #expect(InheritedDescriptor(writing, for: .reading) == nil)
    #expect(InheritedDescriptor.isOpen(reading) && InheritedDescriptor.isOpen(writing))
    let input = try #require(InheritedDescriptor(reading, for: .reading))
    let output = try #require(InheritedDescriptor(writing, for: .writing))
    defer { for copy in [input, output] { close(copy.duplicate) } }
    #expect(input.number == reading && input.duplicate != reading && input != output)
    for copy in [input, output] { #expect(fcntl(copy.duplicate, F_GETFD) & FD_CLOEXEC != 0) }
    var byte: UInt8 = 7
    #expect(write(output.duplicate, &byte, 1) == 1)
    byte = 0
    #expect(read(input.duplicate, &byte, 1) == 1 && byte == 7)
  }

  @Test("A number without a descriptor is nothing", arguments: [-1, Int32.min, Int32.max, 1_000_000])
  func closed(number: Int32) {
    #expect(!InheritedDescriptor.isOpen(number))
    #expect(InheritedDescriptor(number, for: .reading) == nil)
    #expect(InheritedDescriptor(number, for: .writing) == nil)
  }
}
