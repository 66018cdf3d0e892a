// SPDX-License-Identifier: Apache-2.0
//
// The batches of a pipeline, whose turn it is, and the lock for that.
//
// Concurrency: the lock guards every field. The bytes of a batch belong to the thread that has put it into
// `reading`, `transforming` or `lent`; the work's `read` is called by one thread at a time.

internal import Glibc

/// The batches of a pipeline, and whose turn it is.
// Unchecked: the compiler cannot see that the lock guards every field.
final class SharedBatches: @unchecked Sendable {
  private let lock = ConditionLock()
  private let stage: any BatchWork
  private let batchByteCount: Int
  private let batchCount: Int
  /// By their number, modulo `batchCount`; made when they are needed first.
  private var batches: [Batch] = []
  private var readCount = 0
  private var transformedCount = 0
  private var takenCount = 0
  private var isReading = false
  private var isTransforming = false
  private var isReadToEnd = false
  private var isClosed = false

  init(_ stage: any BatchWork, batchByteCount: Int, batchCount: Int) {
    self.stage = stage
    self.batchByteCount = batchByteCount
    self.batchCount = batchCount
  }

  /// The next batch in order. The calling thread does what there is to do until it is ready.
  func take() -> Batch {
    lock.lock()
    defer { lock.unlock() }
    while true {
      if let next = batch(takenCount, in: .ready) {
        next.state = .lent
        takenCount += 1
        return next
      }
      if !doStep(lane: 0) { lock.wait() }
    }
  }

  /// The octets of the batch have been used.
  func giveBack(_ batch: Batch) {
    lock.lock()
    batch.state = .free
    lock.wakeAll()
    lock.unlock()
  }

  /// Does what there is to do until nothing is left: the second thread's whole life.
  func work() {
    lock.lock()
    while !isClosed && !(isReadToEnd && transformedCount >= readCount) {
      if !doStep(lane: 1) { lock.wait() }
    }
    lock.unlock()
  }

  /// Lets the second thread end after what it is doing.
  func close() {
    lock.lock()
    isClosed = true
    lock.wakeAll()
    lock.unlock()
  }

  /// Transforms or reads a batch, with the lock given away meanwhile; false when there is nothing to do.
  private func doStep(lane: Int) -> Bool {
    if let batch = nextToTransform() {
      isTransforming = true
      batch.state = .transforming
      lock.unlock()
      let failure =
        batch.failure
        ?? attempt { () throws(OpenPGPError) in
          try stage.transform(batch, lane: lane)
        }
      lock.lock()
      isTransforming = false
      batch.failure = failure
      batch.state = .ready
      transformedCount += 1
      lock.wakeAll()
      return true
    }
    guard let batch = nextToRead() else { return false }
    isReading = true
    lock.unlock()
    let failure = attempt { () throws(OpenPGPError) in try stage.read(batch) }
    lock.lock()
    isReading = false
    readCount += 1
    isReadToEnd = batch.isLast || failure != nil
    // A batch that failed takes its turn like the others, so that the failure comes at its place.
    batch.failure = failure
    batch.state = .read
    lock.wakeAll()
    return true
  }

  private func nextToTransform() -> Batch? {
    if stage.isSerial { return isTransforming ? nil : batch(transformedCount, in: .read) }
    return batches.filter { $0.state == .read }.min { $0.number < $1.number }
  }

  private func nextToRead() -> Batch? {
    guard !isReading, !isReadToEnd, !isClosed else { return nil }
    if batches.count == readCount, readCount < batchCount { batches.append(Batch(byteCount: batchByteCount)) }
    let batch = batches[readCount % batchCount]
    guard batch.state == .free else { return nil }
    batch.state = .reading
    batch.number = readCount
    return batch
  }

  private func batch(_ number: Int, in state: Batch.State) -> Batch? {
    guard number < readCount else { return nil }
    let batch = batches[number % batchCount]
    return batch.number == number && batch.state == state ? batch : nil
  }

  private func attempt(_ step: () throws(OpenPGPError) -> Void) -> OpenPGPError? {
    do {
      try step()
      return nil
    } catch {
      return error
    }
  }
}

/// A mutex and a condition: threads wait for something to change under the lock.
// Unchecked: the pointers never change, and what they point to is made to be shared between threads.
@safe
final class ConditionLock: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Takes the lock; waits for it if need be.
  func lock() { unsafe pthread_mutex_lock(mutex) }

  /// Gives the lock back.
  func unlock() { unsafe pthread_mutex_unlock(mutex) }

  /// Gives the lock away until ``wakeAll()``, and takes it again.
  func wait() { unsafe pthread_cond_wait(condition, mutex) }

  /// Wakes all threads in ``wait()``.
  func wakeAll() { unsafe pthread_cond_broadcast(condition) }
}
