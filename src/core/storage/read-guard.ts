import { type Readable, Transform } from 'node:stream'
import { StorageUnavailableError } from './object-store.ts'

/** How long a store may deliver no bytes before a read fails. */
const STALL_MS = 30_000

export interface ReadGuardOptions {
  /** How many bytes the stream must deliver. */
  readonly expectedBytes: number
  /** Converts an error of the source into one of the storage. */
  readonly translate: (cause: unknown) => Error
  readonly stallMs?: number
}

/**
 * Returns a stream of the bytes of a source. It fails, instead of ending early, when the source delivers too few bytes or stalls
 * while the reader waits for it. Destroying it destroys the source.
 */
export function guardRead(source: Readable, options: ReadGuardOptions): Readable {
  const { expectedBytes, translate, stallMs = STALL_MS } = options
  let received = 0
  let changedMs = performance.now()
  const output = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length
      changedMs = performance.now()
      done(null, chunk)
    },
    flush(done) {
      done(received === expectedBytes ? null : cutShort(received, expectedBytes))
    },
  })
  const timer = setInterval(() => {
    // While a slow reader fills the buffer, the store cannot deliver.
    if (output.writableNeedDrain || output.readableEnded) changedMs = performance.now()
    else if (performance.now() - changedMs >= stallMs) output.destroy(stalled(stallMs))
  }, stallMs / 4)
  timer.unref()
  output.once('close', () => {
    clearInterval(timer)
    source.destroy()
  })
  source.once('error', (cause) => output.destroy(translate(cause)))
  source.once('close', () => {
    if (!source.readableEnded) output.destroy(cutShort(received, expectedBytes))
  })
  return source.pipe(output)
}

const cutShort = (received: number, expected: number): Error =>
  new StorageUnavailableError(undefined, {
    cause: new Error(`A read ended after ${received} of ${expected} bytes.`),
  })

const stalled = (ms: number): Error =>
  new StorageUnavailableError(undefined, { cause: new Error(`A read received nothing for ${ms} ms.`) })
