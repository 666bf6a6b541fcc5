import pTimeout from 'p-timeout'
import type { Log } from '../core/log.ts'

/** The steps of stopping a process. Its parts add theirs when they start. */
export interface ShutdownSteps {
  /** Steps that stop accepting work and redirect peers to other processes. They run together. */
  readonly drain: (() => Promise<unknown>)[]
  /** Steps that run afterwards, one after another, the last one first. */
  readonly close: (() => Promise<unknown>)[]
}

/**
 * Returns the function that stops a process. It may be called repeatedly.
 * @param stepMs time limit of a step; after it the next step starts
 */
export function createStop(
  shutdown: ShutdownSteps,
  stepMs: number,
  log: Log,
  markNotReady: () => void,
): () => Promise<void> {
  let stopping: Promise<void> | undefined
  const step = (work: () => Promise<unknown>) =>
    pTimeout(work(), {
      milliseconds: stepMs,
      message: 'the step exceeded its time limit; continuing with the next step',
    }).catch((cause) => log.error({ err: cause }, 'shutdown step failed'))
  const stop = async () => {
    markNotReady()
    await Promise.all(shutdown.drain.map(step))
    for (const close of shutdown.close.toReversed()) await step(close)
  }
  return () => {
    stopping ??= stop()
    return stopping
  }
}
