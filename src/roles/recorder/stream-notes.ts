import { setTimeout as delay } from 'node:timers/promises'
import type { GapReason } from '@wheelhouse/protocol'
import type { RecorderServices } from './messages.ts'

const FIRST_RETRY_MS = 200
const LONGEST_RETRY_MS = 5_000
/** Notes that wait for the database. Beyond it, gaps become one. */
const MAX_WAITING = 64

/** A gap whose end is unknown. */
export interface OpenGap {
  readonly fromMs: number
  readonly reason: GapReason
}

type Gap = Parameters<RecorderServices['streams']['addGap']>[1]

/**
 * Writes the notes of a stream to the database: one note after another, and again until that succeeds. Segments wait for the database
 * as long, so that a recording never has the samples after a gap without the gap.
 */
export class StreamNotes {
  readonly #streams: RecorderServices['streams']
  #work = Promise.resolve()
  #waiting = 0
  /** The newest gap that waits for the notes before it. */
  #waitingGap: { -readonly [K in keyof Gap]: Gap[K] } | undefined

  constructor(streams: RecorderServices['streams']) {
    this.#streams = streams
  }

  /** Stores a gap. */
  gap(recordingId: string, gap: Gap): void {
    const last = this.#waitingGap
    if (last && this.#waiting >= MAX_WAITING) {
      last.fromMs = Math.min(last.fromMs, gap.fromMs)
      last.toMs = Math.max(last.toMs, gap.toMs)
      return
    }
    const waiting = { ...gap }
    this.#waitingGap = waiting
    this.#add(async () => {
      if (this.#waitingGap === waiting) this.#waitingGap = undefined
      await this.#streams.addGap(recordingId, waiting)
    })
  }

  /** Stores why no data is stored at present; null once data is stored again. */
  paused(recordingId: string, reason: GapReason | null): void {
    if (this.#waiting < MAX_WAITING) this.#add(() => this.#streams.setPaused(recordingId, reason))
  }

  /** Ends the stream. Settles when all notes are written. */
  async close(streamId: string, end: { atMs: number; gap: OpenGap | null }): Promise<void> {
    this.#add(() => this.#streams.closeStream(streamId, end))
    await this.#work
  }

  #add(write: () => Promise<void>): void {
    this.#waiting++
    this.#work = this.#work
      .then(() => writeRepeatedly(write))
      .finally(() => {
        this.#waiting--
      })
  }
}

async function writeRepeatedly(write: () => Promise<void>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await write()
    } catch {
      await delay(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt), undefined, { ref: false })
    }
  }
}
