import {
  type ByteRange,
  ObjectMissingError,
  type ObjectStore,
  type ObjectWriter,
  StorageFullError,
  StorageUnavailableError,
} from '../../../core/storage/object-store.ts'
import type { DatasetStore } from '../lerobot/stored-file.ts'

// The storage of the process as its thread for exports uses it, by messages. The thread has no credentials and no connections.

type StoreCall =
  | { readonly op: 'readBytes'; readonly key: string; readonly range: ByteRange | undefined }
  | { readonly op: 'create'; readonly key: string }
  | { readonly op: 'write'; readonly writer: number; readonly bytes: Uint8Array }
  | { readonly op: 'complete'; readonly writer: number }
  | { readonly op: 'abort'; readonly writer: number }

/** A call of the thread. */
export type StoreRequest = StoreCall & { readonly kind: 'store'; readonly id: number }
/** The result of a call. */
export interface StoreResponse {
  readonly kind: 'stored'
  readonly id: number
  readonly value?: unknown
  readonly error?: { readonly name: string; readonly message: string }
}

export type Post = (message: object, transfer: readonly ArrayBuffer[]) => void

/** The errors that callers distinguish, by their names. */
const errorTypes: Readonly<Record<string, new (message: string) => Error>> = {
  ObjectMissingError,
  StorageFullError,
  StorageUnavailableError,
}

/** Returns bytes that fill their buffer, so that it can be transferred. */
const transferable = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength
    ? new Uint8Array(bytes.buffer)
    : new Uint8Array(bytes)

/** Runs the calls of a thread with the storage of the process. */
export function serveStore(store: Pick<ObjectStore, 'readBytes' | 'create'>, post: Post) {
  const writers = new Map<number, ObjectWriter>()
  const running = new Set<Promise<void>>()
  let created = 0

  async function run(call: StoreCall): Promise<unknown> {
    if (call.op === 'readBytes') return transferable(await store.readBytes(call.key, call.range))
    if (call.op === 'create') {
      const id = ++created
      writers.set(id, await store.create(call.key))
      return id
    }
    const writer = writers.get(call.writer)
    if (!writer) throw new Error('the object is complete')
    if (call.op === 'write') return await writer.write(call.bytes)
    writers.delete(call.writer)
    if (call.op === 'abort') return await writer.abort()
    await writer.complete()
  }

  async function answer({ kind: _, id, ...call }: StoreRequest): Promise<void> {
    try {
      const value = await run(call as StoreCall)
      post({ kind: 'stored', id, value }, value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : [])
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause))
      post({ kind: 'stored', id, error: { name: error.constructor.name, message: error.message } }, [])
    }
  }

  return {
    async handle(request: StoreRequest): Promise<void> {
      const answered = answer(request)
      running.add(answered)
      await answered
      running.delete(answered)
    },
    /** Waits for the running calls, then discards the objects that are not complete. */
    async close(): Promise<void> {
      await Promise.allSettled(running)
      const open = [...writers.values()]
      writers.clear()
      await Promise.allSettled(open.map((writer) => writer.abort()))
    },
  }
}

/** Creates the storage of the thread. `receive` takes the results of its calls. */
export function createChannelStore(post: Post) {
  const pending = new Map<number, { resolve: (value: unknown) => void; reject: (cause: Error) => void }>()
  let calls = 0

  const call = (request: StoreCall, transfer: readonly ArrayBuffer[] = []): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++calls
      pending.set(id, { resolve, reject })
      post({ kind: 'store', id, ...request }, transfer)
    })

  const store: DatasetStore = {
    readBytes: async (key, range) => (await call({ op: 'readBytes', key, range })) as Uint8Array,
    async create(key) {
      const writer = (await call({ op: 'create', key })) as number
      return {
        async write(bytes) {
          const copy = new Uint8Array(bytes)
          await call({ op: 'write', writer, bytes: copy }, [copy.buffer])
        },
        async complete() {
          await call({ op: 'complete', writer })
          return { key, sizeBytes: 0, etag: '""', modifiedAt: new Date(0) }
        },
        abort: async () => void (await call({ op: 'abort', writer })),
      }
    },
  }

  return {
    store,
    receive({ id, value, error }: StoreResponse): void {
      const waiting = pending.get(id)
      pending.delete(id)
      if (!error) waiting?.resolve(value)
      else waiting?.reject(new (errorTypes[error.name] ?? Error)(error.message))
    },
  }
}
