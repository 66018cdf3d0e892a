// SPDX-License-Identifier: Apache-2.0
//
// Libraries that are opened while the program runs.

#if DesktopBus
  import CLoader
  import Foundation
  @testable import DesktopBus
  import Testing

  @Suite("Libraries that are opened")
  struct LoaderTests {
    /// Loads calls from libraries, and gives what the loader gives, and how many calls have an address.
    private func load(_ libraries: [String], _ names: [String]) -> (result: Int32, found: Int) {
      var calls = [UnsafeMutableRawPointer?](repeating: nil, count: names.count)
      var files = libraries.map { UnsafePointer(strdup($0)) }
      let wanted = names.map { UnsafePointer(strdup($0)!) }
      defer { for text in files.compactMap({ $0 }) + wanted { free(UnsafeMutablePointer(mutating: text)) } }
      files.append(nil)
      let result = coffer_load(files, wanted, wanted.count, &calls)
      return (result, calls.count { $0 != nil })
    }

    @Test("Calls are found in any of the libraries, in their order")
    func found() {
      #expect(load(["libz.so.1"], ["deflate", "inflate"]) == (0, 2))
      #expect(load(["libz.so.1", "libsystemd.so.0"], ["sd_bus_new", "inflate", "sd_bus_call"]) == (0, 3))
    }

    @Test("A library that is not there is refused, also beside one that is")
    func missing() {
      #expect(load(["libnosuchthing.so.0"], ["inflate"]).result == -1)
      #expect(load(["libz.so.1", "libnosuchthing.so.0"], ["inflate"]).result == -1)
    }

    @Test("Another library of that name is refused: it lacks a call")
    func other() {
      #expect(load(["libz.so.1"], ["inflate", "sd_bus_new"]).result == -1)
      #expect(load(["libz.so.1"], ["inflate2Everything"]).result == -1)
    }

    @Test("Without the library there is no bus")
    func noLibrary() {
      #expect(throws: BusError.noLibrary) { _ = try BusConnection(.session, nil) }
    }
  }
#endif
