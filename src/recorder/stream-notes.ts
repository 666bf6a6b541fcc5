import { setTimeout as delay } from 'node:timers/promises'
import type { GapReason } from '@wheelhouse/protocol'
import type { RecorderServices } from './messages.ts'

/** Attempts while the database is unavailable. A note that fails this often is lost. */
const ATTEMPTS = 10
const FIRST_RETRY_MS = 200
const LONGEST_RETRY_MS = 5_000
/** Notes that wait for the database. */
const MAX_WAITING = 64

/** A gap whose end is unknown. */
export interface OpenGap {
  readonly fromMs: number
  readonly reason: GapReason
}

/** Writes the notes of a stream to the database: one note after another, and again after a failure. */
export class StreamNotes {
  readonly #streams: RecorderServices['streams']
  #work = Promise.resolve()
  #waiting = 0

  constructor(streams: RecorderServices['streams']) {
    this.#streams = streams
  }

  /** Stores a gap. */
  gap(recordingId: string, gap: Parameters<RecorderServices['streams']['addGap']>[1]): void {
    this.#add(() => this.#streams.addGap(recordingId, gap))
  }

  /** Stores why no data is stored at present; null once data is stored again. */
  paused(recordingId: string, reason: GapReason | null): void {
    this.#add(() => this.#streams.setPaused(recordingId, reason))
  }

  /** Ends the stream. Settles when all notes are written. */
  async close(streamId: string, end: { atMs: number; gap: OpenGap | null }): Promise<void> {
    this.#add(() => this.#streams.closeStream(streamId, end))
    await this.#work
  }

  #add(write: () => Promise<void>): void {
    if (this.#waiting >= MAX_WAITING) return
    this.#waiting++
    this.#work = this.#work
      .then(() => writeRepeatedly(write))
      .finally(() => {
        this.#waiting--
      })
  }
}

async function writeRepeatedly(write: () => Promise<void>): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      return await write()
    } catch {
      await delay(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt), undefined, { ref: false })
    }
  }
}
