import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 10

/** Wraps a job so that it never runs twice at a time: a call during a run joins that run. */
export function alone(job: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => {
    running ??= job().finally(() => {
      running = undefined
    })
    return running
  }
}

/** Settles with the work, or rejects with `message` once `limitMs` have passed. The work itself goes on. */
export async function within<T>(limitMs: number, message: string, work: Promise<T>): Promise<T> {
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
