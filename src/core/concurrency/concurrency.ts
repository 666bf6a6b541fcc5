import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 10

/** Wraps a job so that it never runs twice at a time: a call during a run joins that run. */
export function singleFlight(job: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => {
    running ??= job().finally(() => {
      running = undefined
    })
    return running
  }
}

/**
 * Wraps a job so that it never runs twice at a time: a call during a run waits for the next run, which begins
 * after the call, and which all such calls share.
 */
export function coalesce(job: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const run = (): Promise<void> => {
    if (running) {
      next ??= running
        .catch(() => {}) // its own callers receive the error
        .then(() => {
          next = undefined
          return run()
        })
      return next
    }
    running = job().finally(() => {
      running = undefined
    })
    return running
  }
  return run
}

/** Settles with the work, or rejects with `message` once `limitMs` have passed. The work itself goes on. */
export async function withTimeout<T>(limitMs: number, message: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(message)), limitMs)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

/** Polls a condition until it holds (true) or the time is up (false). */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  limitMs: number,
): Promise<boolean> {
  const deadline = Date.now() + limitMs
  while (!(await condition())) {
    if (Date.now() > deadline) return false
    await delay(POLL_MS)
  }
  return true
}

/**
 * Runs at most `concurrency` calls at a time and queues `queueSize` more, first in, first out. A call that finds the
 * queue full is rejected with the error of `overloaded`.
 */
export function createSemaphore(limits: { concurrency: number; queueSize: number; overloaded: () => Error }) {
  let running = 0
  const queue: (() => void)[] = []
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= limits.concurrency) {
      if (queue.length >= limits.queueSize) throw limits.overloaded()
      await new Promise<void>((resolve) => queue.push(resolve)) // the slot is handed over, so `running` stays
    } else running++
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next) next()
      else running--
    }
  }
}

/** Limits how many calls run at a time for each key. A call beyond the limit is rejected with the error of `overloaded`. */
export function createKeyedLimit(limits: { concurrency: number; overloaded: () => Error }) {
  const running = new Map<string, number>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const count = running.get(key) ?? 0
    if (count >= limits.concurrency) throw limits.overloaded()
    running.set(key, count + 1)
    try {
      return await work()
    } finally {
      const remaining = (running.get(key) ?? 1) - 1
      if (remaining > 0) running.set(key, remaining)
      else running.delete(key)
    }
  }
}

/** Time over which many connections are closed, so that they do not all reconnect at once. */
const STAGGER_MS = 2_000
const STEP_MS = 50
/** Fewest items per step: as many as any process accepts at once. */
const MIN_PER_STEP = 100

/** Calls `action` for each item: few items at once, many spread over two seconds. */
export async function stagger<T>(items: readonly T[], action: (item: T) => void): Promise<void> {
  const perStep = Math.max(MIN_PER_STEP, Math.ceil((items.length * STEP_MS) / STAGGER_MS))
  for (let start = 0; start < items.length; start += perStep) {
    if (start > 0) await delay(STEP_MS)
    for (const item of items.slice(start, start + perStep)) action(item)
  }
}
