// SPDX-License-Identifier: Apache-2.0
//
// The distinct terms of a segment that is being made. They are the only plaintext of it that is kept, in locked memory;
// what tells where they are has no letter of them.

internal import Glibc
internal import Secrets

/// Numbers terms in the order in which they come.
struct WordTable: ~Copyable {
  /// Each 1 MiB, the most that is locked.
  private var chunks: [WordChunk] = []
  /// Chunk and offset of each term: its length in a byte, then its bytes.
  private var places = ErasedArray<UInt32>(capacity: 300_000)
  /// Hash ‖ number + 1; zero where there is none.
  private var slots = ErasedArray<UInt64>(capacity: 1 << 18)
  private var mask: UInt32 = (1 << 18) - 1
  private let keyed = KeyedHash()
  /// Bytes of all terms.
  private(set) var byteCount = 0

  init() {
    slots.resize(to: 1 << 18)
  }

  var count: Int { places.count }

  /// The hash of a word, for ``number(of:_:_:_:)``.
  @unsafe @inline(__always)
  func hash(_ word: UnsafeRawPointer, _ count: Int, readable: Int) -> UInt64 {
    unsafe keyed(word, count, readable: readable)
  }

  /// Reads a slot, so that it is in the cache afterwards.
  @inline(__always) func touch(_ wordHash: UInt64, _ namespace: UInt8) -> UInt64 {
    slots[Int(UInt32(truncatingIfNeeded: keyed(wordHash, namespace)) & mask)]
  }

  /// The number of a term, which is added if it is new.
  /// - Parameter count: bytes of the word; with its namespace at most 255.
  @unsafe @inline(__always)
  mutating func number(
    of word: UnsafeRawPointer, _ count: Int, _ wordHash: UInt64, _ namespace: UInt8
  ) -> UInt32 {
    let own = UInt32(truncatingIfNeeded: keyed(wordHash, namespace))
    var index = own & mask
    while true {
      let slot = slots[Int(index)]
      if slot == 0 { break }
      if UInt32(truncatingIfNeeded: slot >> 32) == own {
        let number = UInt32(truncatingIfNeeded: slot) - 1
        if unsafe isSame(number, word, count, namespace) { return number }
      }
      index = (index + 1) & mask
    }
    return unsafe add(word, count, namespace, own, at: index)
  }

  @unsafe @inline(__always)
  private func isSame(_ number: UInt32, _ word: UnsafeRawPointer, _ count: Int, _ namespace: UInt8) -> Bool {
    let term = unsafe address(number)
    guard unsafe term[0] == UInt8(truncatingIfNeeded: count + 1), unsafe term[1] == namespace else {
      return false
    }
    return unsafe memcmp(term + 2, word, count) == 0
  }

  /// Its length, then its bytes.
  @unsafe @inline(__always)
  private func address(_ number: UInt32) -> UnsafePointer<UInt8> {
    let place = places[Int(number)]
    return unsafe UnsafePointer(chunks[Int(place >> 20)].start) + Int(place & 0xF_FFFF)
  }

  /// Lends a term.
  @inline(__always)
  func withTerm<R, E: Error>(_ number: UInt32, _ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    let address = unsafe address(number)
    let span = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(address + 1), byteCount: Int(address[0]))
    return try body(span)
  }

  @unsafe @inline(never)
  private mutating func add(
    _ word: UnsafeRawPointer, _ count: Int, _ namespace: UInt8, _ own: UInt32, at index: UInt32
  ) -> UInt32 {
    if chunks.last.map({ $0.count + count + 2 > WordChunk.capacity }) ?? true { chunks.append(WordChunk()) }
    let chunk = chunks[chunks.count - 1]
    let place = chunk.count
    unsafe chunk.start[place] = UInt8(truncatingIfNeeded: count + 1)
    unsafe chunk.start[place + 1] = namespace
    unsafe UnsafeMutableRawPointer(chunk.start + place + 2).copyMemory(from: word, byteCount: count)
    chunk.count += count + 2
    byteCount += count + 2
    places.append(UInt32(chunks.count - 1) << 20 | UInt32(place))
    let number = UInt32(places.count)
    slots[Int(index)] = UInt64(own) << 32 | UInt64(number)
    if places.count > Int(mask) / 2 { grow() }
    return number - 1
  }

  private mutating func grow() {
    let wider = mask << 1 | 1
    var larger = ErasedArray<UInt64>(capacity: Int(wider) + 1)
    larger.resize(to: Int(wider) + 1)
    for index in 0..<slots.count where slots[index] != 0 {
      var place = UInt32(truncatingIfNeeded: slots[index] >> 32) & wider
      while larger[Int(place)] != 0 { place = (place + 1) & wider }
      larger[Int(place)] = slots[index]
    }
    slots = larger
    mask = wider
  }

  // MARK: Order

  /// The numbers of all terms for which `isUsed`, in the order of their bytes.
  ///
  /// By the first two bytes at first, then each of these sets by the next eight: these keys are pieces of words, so
  /// there are never more of them than fit into locked memory.
  func sorted(where isUsed: (Int) -> Bool) -> ErasedArray<UInt32> {
    var starts = [Int](repeating: 0, count: Self.setCount + 1)
    for number in 0..<count where isUsed(number) { starts[set(UInt32(number)) + 1] += 1 }
    for set in 0..<Self.setCount { starts[set + 1] += starts[set] }
    var places = starts
    var numbers = ErasedArray<UInt32>(capacity: count)
    numbers.resize(to: starts[Self.setCount])
    for number in 0..<count where isUsed(number) {
      let set = set(UInt32(number))
      numbers[places[set]] = UInt32(number)
      places[set] += 1
    }
    var keys = ErasedArray<SortKey>(capacity: Self.keyCount)
    for set in 0..<Self.setCount where starts[set + 1] - starts[set] > 1 {
      sort(&numbers, starts[set]..<starts[set + 1], &keys)
    }
    return numbers
  }

  private struct SortKey {
    var bytes: UInt64
    var number: UInt32
  }

  /// Namespaces, and the first byte after.
  private static let setCount = 8 << 8
  /// 1 MiB less what the array adds.
  private static let keyCount = 65_000

  private func set(_ number: UInt32) -> Int {
    let term = unsafe address(number)
    return unsafe Int(term[1] & 7) << 8 | (term[0] > 1 ? Int(term[2]) : 0)
  }

  /// Bytes 2 to 9 of a term, big-endian; zeros after its end. No term has a zero.
  private func key(_ number: UInt32) -> UInt64 {
    let term = unsafe address(number)
    let count = unsafe Int(term[0])
    if count >= 10 {
      return unsafe UInt64(bigEndian: UnsafeRawPointer(term + 3).loadUnaligned(as: UInt64.self))
    }
    var key: UInt64 = 0
    for index in 2..<10 { key = unsafe key << 8 | (index < count ? UInt64(term[1 + index]) : 0) }
    return key
  }

  private func precedes(_ left: UInt32, _ right: UInt32) -> Bool {
    withTerm(left) { left in withTerm(right) { compare(left, $0) < 0 } }
  }

  private func sort(
    _ numbers: inout ErasedArray<UInt32>, _ range: Range<Int>, _ keys: inout ErasedArray<SortKey>
  ) {
    guard range.count <= Self.keyCount else {
      var all = unsafe UnsafeMutableBufferPointer(
        start: numbers.pointer + range.lowerBound, count: range.count)
      return unsafe all.sort { precedes($0, $1) }
    }
    keys.resize(to: range.count)
    for index in 0..<range.count {
      let number = numbers[range.lowerBound + index]
      keys[index] = SortKey(bytes: key(number), number: number)
    }
    var all = unsafe UnsafeMutableBufferPointer(start: keys.pointer, count: range.count)
    unsafe all.sort { $0.bytes == $1.bytes ? precedes($0.number, $1.number) : $0.bytes < $1.bytes }
    for index in 0..<range.count { numbers[range.lowerBound + index] = keys[index].number }
  }
}

/// 1 MiB of terms.
@safe
private final class WordChunk {
  static let capacity = (1 << 20) - 8
  private let memory: ErasedArray<UInt8>
  /// Of the memory, which never moves.
  @unsafe let start: UnsafeMutablePointer<UInt8>
  var count = 0

  init() {
    var memory = ErasedArray<UInt8>(capacity: Self.capacity)
    memory.resize(to: Self.capacity)
    unsafe start = memory.pointer
    self.memory = memory
  }
}
