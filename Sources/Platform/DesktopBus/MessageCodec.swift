// SPDX-License-Identifier: Apache-2.0
//
// Values into and out of sd-bus's messages, with the calls that take no variable arguments. No pointer into a
// message is used after the next call on that message.

#if DesktopBus
  internal import CSystemdBus
  internal import Glibc

  /// One message of sd-bus: one reference, dropped at the end.
  @safe
  struct RawMessage: ~Copyable {
    let pointer: OpaquePointer
    private let library: coffer_sd_bus

    /// - Parameter pointer: a reference that this value takes over.
    init(owning pointer: OpaquePointer, _ library: coffer_sd_bus) {
      unsafe self.pointer = pointer
      self.library = library
    }

    deinit { _ = unsafe library.sd_bus_message_unref(pointer) }

    // MARK: Writing

    /// Appends arguments.
    /// - Throws: `BusError.malformed` for what D-Bus has no type for.
    func append(arguments: [BusValue]) throws(BusError) {
      guard Signature.isValid(arguments.map(\.typeSignature).joined()) else { throw .malformed }
      try append(arguments)
    }

    private func append(_ values: [BusValue]) throws(BusError) {
      for value in values { try append(value) }
    }

    private func append(_ value: BusValue) throws(BusError) {
      switch value {
      case .byte(let value): try appendBasic("y", value)
      // A boolean takes the place of an int.
      case .boolean(let value): try appendBasic("b", Int32(value ? 1 : 0))
      case .int16(let value): try appendBasic("n", value)
      case .uint16(let value): try appendBasic("q", value)
      case .int32(let value): try appendBasic("i", value)
      case .uint32(let value): try appendBasic("u", value)
      case .int64(let value): try appendBasic("x", value)
      case .uint64(let value): try appendBasic("t", value)
      case .double(let value): try appendBasic("d", value)
      // sd-bus makes a duplicate.
      case .fileDescriptor(let descriptor): try appendBasic("h", descriptor.number)
      case .string(let text): try appendText("s", text)
      case .objectPath(let text): try appendText("o", text)
      case .signature(let text):
        guard Signature.isValid(text) else { throw .malformed }
        try appendText("g", text)
      case .bytes(let bytes):
        try check(
          unsafe bytes.withUnsafeBytes {
            unsafe library.sd_bus_message_append_array(pointer, type("y"), $0.baseAddress, $0.count)
          })
      case .array(let element, let values): try appendContainer("a", element, values)
      case .structure(let members):
        try appendContainer("r", members.map(\.typeSignature).joined(), members)
      case .entry(let key, let value):
        try appendContainer("e", key.typeSignature + value.typeSignature, [key, value])
      case .variant(let value):
        guard Signature.isValid(value.typeSignature) else { throw .malformed }
        try appendContainer("v", value.typeSignature, [value])
      }
    }

    private func appendBasic<T: BitwiseCopyable>(_ code: Unicode.Scalar, _ value: T) throws(BusError) {
      var value = value
      try check(unsafe library.sd_bus_message_append_basic(pointer, type(code), &value))
    }

    private func appendText(_ code: Unicode.Scalar, _ text: String) throws(BusError) {
      guard !text.utf8.contains(0) else { throw .malformed }
      try check(
        unsafe text.withCString { unsafe library.sd_bus_message_append_basic(pointer, type(code), $0) })
    }

    private func appendContainer(
      _ code: Unicode.Scalar, _ contents: String, _ values: [BusValue]
    ) throws(BusError) {
      try check(unsafe library.sd_bus_message_open_container(pointer, type(code), contents))
      try append(values)
      try check(unsafe library.sd_bus_message_close_container(pointer))
    }

    // MARK: Reading

    /// All remaining values of the message, or of the container that was entered.
    func values() throws(BusError) -> [BusValue] {
      var values: [BusValue] = []
      while let value = try next() { values.append(value) }
      return values
    }

    private func next() throws(BusError) -> BusValue? {
      var code: CChar = 0
      var contents: UnsafePointer<CChar>? = nil
      guard try check(unsafe library.sd_bus_message_peek_type(pointer, &code, &contents)) > 0 else {
        return nil
      }
      switch Unicode.Scalar(UInt8(bitPattern: code)) {
      case "y": return .byte(try readBasic(code, UInt8(0)))
      case "b": return .boolean(try readBasic(code, Int32(0)) != 0)
      case "n": return .int16(try readBasic(code, Int16(0)))
      case "q": return .uint16(try readBasic(code, UInt16(0)))
      case "i": return .int32(try readBasic(code, Int32(0)))
      case "u": return .uint32(try readBasic(code, UInt32(0)))
      case "x": return .int64(try readBasic(code, Int64(0)))
      case "t": return .uint64(try readBasic(code, UInt64(0)))
      case "d": return .double(try readBasic(code, Double(0)))
      case "s": return .string(try readText(code))
      case "o": return .objectPath(try readText(code))
      case "g": return .signature(try readText(code))
      case "h": return .fileDescriptor(try readDescriptor(code))
      case "a": return unsafe try readArray(unsafe contents)
      case "r": return unsafe .structure(try readContainer(code, unsafe contents))
      case "e":
        let members = unsafe try readContainer(code, unsafe contents)
        guard members.count == 2 else { throw .malformed }
        return .entry(members[0], members[1])
      case "v":
        let members = unsafe try readContainer(code, unsafe contents)
        guard members.count == 1 else { throw .malformed }
        return .variant(members[0])
      default: throw .malformed
      }
    }

    private func readBasic<T: BitwiseCopyable>(_ code: CChar, _ zero: T) throws(BusError) -> T {
      var value = zero
      try check(unsafe library.sd_bus_message_read_basic(pointer, code, &value))
      return value
    }

    private func readText(_ code: CChar) throws(BusError) -> String {
      var text: UnsafePointer<CChar>? = nil
      try check(unsafe library.sd_bus_message_read_basic(pointer, code, &text))
      // sd-bus has checked that it is UTF-8.
      guard let text = unsafe text else { throw .malformed }
      return unsafe String(cString: text)
    }

    /// The message closes its own descriptor, so this takes a duplicate.
    private func readDescriptor(_ code: CChar) throws(BusError) -> BusFileDescriptor {
      let duplicate = fcntl(try readBasic(code, Int32(-1)), F_DUPFD_CLOEXEC, 3)
      guard duplicate >= 0 else { throw .system(errno) }
      return BusFileDescriptor(owning: duplicate)
    }

    private func readArray(_ contents: UnsafePointer<CChar>?) throws(BusError) -> BusValue {
      let element = unsafe contents.map { unsafe String(cString: $0) } ?? ""
      guard element == "y" else {
        return unsafe .array(of: element, try readContainer(type("a"), unsafe contents))
      }
      var bytes: UnsafeRawPointer? = nil
      var count = 0
      try check(unsafe library.sd_bus_message_read_array(pointer, type("y"), &bytes, &count))
      return .bytes(unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
    }

    private func readContainer(
      _ code: CChar, _ contents: UnsafePointer<CChar>?
    ) throws(BusError) -> [BusValue] {
      try check(unsafe library.sd_bus_message_enter_container(pointer, code, contents))
      let values = try values()
      try check(unsafe library.sd_bus_message_exit_container(pointer))
      return values
    }

    private func type(_ code: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: code.value) }
  }

  /// The result of a call of sd-bus, or its error: the message is malformed, or memory is short.
  @discardableResult
  private func check(_ result: Int32) throws(BusError) -> Int32 {
    guard result < 0 else { return result }
    switch -result {
    case ENOMEM, EMFILE, ENFILE: throw .system(-result)
    default: throw .malformed
    }
  }
#endif
