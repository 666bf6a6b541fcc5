import { setTimeout as delay } from 'node:timers/promises'
import pLimit, { type LimitFunction } from 'p-limit'

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
  const { concurrency, queueSize, overloaded } = limits
  const limit = pLimit(concurrency)
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (limit.activeCount + limit.pendingCount >= concurrency + queueSize) throw overloaded()
    return await limit(work)
  }
}

/** Limits how many calls run at a time for each key. A call beyond the limit is rejected with the error of `overloaded`. */
export function createKeyedLimit(limits: { concurrency: number; overloaded: () => Error }) {
  const { concurrency, overloaded } = limits
  const byKey = new Map<string, LimitFunction>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const limit = byKey.get(key) ?? pLimit(concurrency)
    if (limit.activeCount >= concurrency) throw overloaded()
    byKey.set(key, limit)
    try {
      return await limit(work)
    } finally {
      if (limit.activeCount === 0) byKey.delete(key)
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
