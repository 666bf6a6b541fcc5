import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import type { ObjectStore } from '../../../src/core/storage/object-store.ts'

const FILE_BYTES = 40_000_000_000
const CHUNK = randomBytes(16_384)
const CHUNK_MS = 20

/** Makes every object a file of many gigabytes that arrives slowly. */
export function sendSlowly(store: ObjectStore): void {
  const stat = store.stat.bind(store)
  store.stat = async (key) => {
    const stored = await stat(key)
    return stored && { ...stored, sizeBytes: FILE_BYTES }
  }
  store.read = async () =>
    Readable.from(
      (async function* () {
        for (;;) {
          await delay(CHUNK_MS)
          yield CHUNK
        }
      })(),
    )
}

/** Begins a download. Returns whether it still runs, and a function that ends it. */
export async function beginDownload(url: string, credential?: string) {
  const headers = credential === undefined ? {} : { Authorization: `Bearer ${credential}` }
  const abort = new AbortController()
  const response = await fetch(url, { headers, signal: abort.signal })
  expect(response.status).toBe(200)
  const reader = response.body!.getReader()
  expect((await reader.read()).value?.length).toBeGreaterThan(0)
  let running = true
  let lastMs = performance.now()
  const ended = (async () => {
    while (!(await reader.read()).done) lastMs = performance.now()
  })()
    .catch(() => {})
    .then(() => {
      running = false
    })
  return {
    isRunning: () => running,
    /** When the last bytes arrived. */
    lastMs: () => lastMs,
    ended,
    async stop() {
      abort.abort()
      await ended
    },
  }
}
