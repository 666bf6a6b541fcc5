import { recordingTopics } from '@wheelhouse/protocol'
import type { RecordingSource } from './recording-source.ts'
import { createRetryDelay, type RecordedMessage, type TimedPart } from './recording-source.ts'

/** Messages are read in windows of this length. */
const WINDOW_MS = 4_000
const MAX_WINDOWS = 10
/** Most messages of a window. A hostile robot sends more; the first ones are kept. */
const MAX_MESSAGES = 8_000

interface Moment {
  readonly topic: string
  readonly atMs: number
  readonly value: Readonly<Record<string, unknown>>
}

interface Window {
  readonly moments: readonly Moment[]
  /** The parts that it was read from; undefined if they went beyond its end. Until it was read from others, its moments stay. */
  readonly parts: readonly TimedPart[] | undefined
}

const text = new TextDecoder()

/** Returns the newest messages at a time. It keeps the windows around the last one, and no more. */
export function createMomentReader(source: RecordingSource, topics: readonly string[]) {
  /** By number of the window, least recently used first. */
  const windows = new Map<number, Window>()
  const reading = new Set<number>()
  const listeners = new Set<() => void>()
  const delay = createRetryDelay()
  let nextAttemptMs = 0
  let wanted: { number: number; parts: readonly TimedPart[] } | undefined

  const isLoaded = (number: number) => {
    const window = windows.get(number)
    // The windows at the former end of a recording are read again when it has grown.
    return window !== undefined && (window.parts ?? source.parts.get()) === source.parts.get()
  }

  function load(number: number): void {
    if (number < 0 || isLoaded(number) || reading.has(number) || performance.now() < nextAttemptMs) return
    reading.add(number)
    read(number).then(
      (window) => {
        reading.delete(number)
        delay.succeeded()
        windows.delete(number)
        windows.set(number, window)
        const [oldest] = windows.keys()
        if (windows.size > MAX_WINDOWS && oldest !== undefined) windows.delete(oldest)
        for (const listener of listeners) listener()
      },
      () => {
        // The next animation frame would read it again.
        reading.delete(number)
        // Windows that fail together count once.
        const nowMs = performance.now()
        if (nowMs >= nextAttemptMs) nextAttemptMs = nowMs + delay.failed()
      },
    )
  }

  async function read(number: number): Promise<Window> {
    const fromMs = number * WINDOW_MS
    const toMs = fromMs + WINDOW_MS
    const parts = source.parts.get()
    const isWhole = Math.max(...parts.map((part) => part.toMs)) >= toMs
    const moments: Moment[] = []
    for await (const message of source.messages({ topics, fromMs, toMs: toMs - 0.001 })) {
      const moment = parse(message)
      if (moment) moments.push(moment)
      if (moments.length >= MAX_MESSAGES) break
    }
    return { moments, parts: isWhole ? undefined : parts }
  }

  return {
    /** Begins to read what surrounds a time. Call it on each animation frame: a failed read is repeated, less and less often. */
    prepare(atMs: number): void {
      const number = Math.floor(atMs / WINDOW_MS)
      const parts = source.parts.get()
      // Another place, or other parts, may be readable.
      if (number !== wanted?.number || parts !== wanted.parts) nextAttemptMs = 0
      wanted = { number, parts }
      for (const near of [number, number - 1, number + 1]) load(near)
    },

    /**
     * Returns the newest message of a topic up to a time, if it is at most four seconds old; undefined for none, and until it was
     * read.
     */
    at(topic: string, atMs: number): Moment | undefined {
      const number = Math.floor(atMs / WINDOW_MS)
      for (const near of [number, number - 1]) {
        const found = windows
          .get(near)
          ?.moments.findLast((moment) => moment.topic === topic && moment.atMs <= atMs)
        if (found) return atMs - found.atMs <= WINDOW_MS ? found : undefined
      }
      return undefined
    },

    isReady(atMs: number): boolean {
      const number = Math.floor(atMs / WINDOW_MS)
      return [number, number - 1].every((near) => near < 0 || isLoaded(near))
    },

    /** Calls a listener when a window was read. Returns a function that removes it. */
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
export type MomentReader = ReturnType<typeof createMomentReader>

function parse({ topic, atMs, data }: RecordedMessage): Moment | undefined {
  try {
    const value: unknown = JSON.parse(text.decode(data))
    if (typeof value !== 'object' || value === null) return undefined
    return { topic, atMs, value: value as Record<string, unknown> }
  } catch {
    return undefined
  }
}

interface CommandMoment extends Moment {
  readonly dropped: string | undefined
}

export function commandAt(moments: MomentReader, atMs: number): CommandMoment | undefined {
  const passed = moments.at(recordingTopics.control, atMs)
  const dropped = moments.at(recordingTopics.dropped, atMs)
  if (dropped && (!passed || dropped.atMs > passed.atMs))
    return { ...dropped, dropped: String(dropped.value.why) }
  return passed && { ...passed, dropped: undefined }
}

/** Returns the number of a line at a time; undefined if nothing recent has it. */
export function numberAt(moments: MomentReader, key: string, atMs: number): number | undefined {
  const source = key.slice(0, key.indexOf(':'))
  const moment = source === 'control' ? commandAt(moments, atMs) : moments.at(`/${source}`, atMs)
  const isData = source === 'control' || source === 'telemetry'
  const value = valueAt(isData ? moment?.value.data : moment?.value, key.slice(source.length + 1))
  return typeof value === 'number' ? value : undefined
}

/** Returns what is at a path, whose names may have dots themselves. */
function valueAt(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (Object.hasOwn(value, path)) return Reflect.get(value, path)
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot)
    const found = Object.hasOwn(value, name)
      ? valueAt(Reflect.get(value, name), path.slice(dot + 1))
      : undefined
    if (found !== undefined) return found
  }
  return undefined
}
