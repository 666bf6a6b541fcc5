import { setTimeout as delay } from 'node:timers/promises'
import type { Episode } from '@wheelhouse/protocol'
import pTimeout from 'p-timeout'
import { causesOf } from '../../src/core/errors/error-causes.ts'
import type { Log } from '../../src/core/log.ts'
import type { EpisodeStore, ReportedEpisode } from '../../src/modules/datasets/index.ts'
import { createSerialBatchLoader } from '../../src/modules/presence/index.ts'
import type { RobotMember } from '../control/control-session.ts'

const EPISODES_PER_TRANSACTION = 500
/** Episodes that may wait for the database: about 25 MB at most. */
const MAX_WAITING = 10_000
/** Episodes of one robot that may wait for the database. */
const MAX_WAITING_PER_ROBOT = 100
/** When a robot is to send an episode again that the queue had no room for. */
const RETRY_AFTER_MS = 5_000
/** How far the clock of a robot may be ahead. */
const CLOCK_TOLERANCE_MS = 5_000
const MS_PER_S = 1_000
const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 2_000
/** How long the end of a gateway waits until the last episodes are stored. */
const FLUSH_LIMIT_MS = 3_000

/**
 * Stores episodes in batches. Answers each frame once: with an acknowledgement after the commit, or with an error. If the
 * process ends before the acknowledgement, the robot sends the episode again.
 */
export function createEpisodes(deps: {
  store: EpisodeStore
  log: Log
  /** Returns the current connection of a robot. It gets the answers, also to frames of an older connection. */
  connectionOf: (robotId: string) => RobotMember | undefined
  clockMs: () => number
  /** Returns the time of day at a reading of the gateway's clock. */
  unixMs: (readingMs: number) => number
}) {
  const { store, log, connectionOf, clockMs, unixMs } = deps
  const stopping = new AbortController()
  /** Waiting episodes by robot. */
  const waitingByRobot = new Map<string, number>()
  let waiting = 0
  let failing = false
  const batchLoader = createSerialBatchLoader<ReportedEpisode, boolean>({
    maxBatch: EPISODES_PER_TRANSACTION,
    maxQueued: MAX_WAITING,
    run: save,
  })

  /** Saves the episodes, and retries until the database has answered. Returns for each whether it is stored. */
  async function save(episodes: readonly ReportedEpisode[]): Promise<boolean[]> {
    for (let attempt = 0; ; attempt++) {
      stopping.signal.throwIfAborted()
      try {
        const stored = await store.save(episodes)
        failing = false
        return stored
      } catch (cause) {
        if (isDataError(cause)) return await saveInHalves(episodes, cause)
        if (!failing) log.warn({ err: cause }, 'failed to store episodes; retrying')
        failing = true
        const longestMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt)
        await delay(longestMs * (0.5 + Math.random() / 2), undefined, { signal: stopping.signal })
      }
    }
  }

  /** Splits a batch that the database refuses, until the refused episode is found. */
  async function saveInHalves(episodes: readonly ReportedEpisode[], cause: unknown): Promise<boolean[]> {
    const [first] = episodes
    if (first && episodes.length === 1) {
      log.warn(
        { err: cause, robotId: first.robotId, episodeId: first.episodeId },
        'the database refused an episode',
      )
      return [false]
    }
    const half = Math.ceil(episodes.length / 2)
    return [...(await save(episodes.slice(0, half))), ...(await save(episodes.slice(half)))]
  }

  async function persist(episode: ReportedEpisode): Promise<void> {
    const { robotId, episodeId } = episode
    waiting++
    waitingByRobot.set(robotId, (waitingByRobot.get(robotId) ?? 0) + 1)
    try {
      const stored = await batchLoader.add(episode)
      const answer = stored
        ? { type: 'episode_ack', episode_id: episodeId }
        : {
            type: 'error',
            message: 'The episode cannot be stored. Do not send it again.',
            episode_id: episodeId,
          }
      connectionOf(robotId)?.send(JSON.stringify(answer), clockMs())
    } catch (cause) {
      if (!stopping.signal.aborted)
        log.error({ err: cause, robotId }, 'failed to store an episode; its robot sends it again')
    } finally {
      waiting--
      const left = (waitingByRobot.get(robotId) ?? 1) - 1
      if (left > 0) waitingByRobot.set(robotId, left)
      else waitingByRobot.delete(robotId)
    }
  }

  return {
    /** Queues an episode, or answers that the queue is full or that the robot's clock is wrong. */
    accept(connection: RobotMember, frame: Episode, nowMs: number): void {
      const { robotId } = connection
      const episode = toReportedEpisode(robotId, frame, unixMs(nowMs))
      const aheadMs = episode.endedAtMs - unixMs(nowMs)
      if (aheadMs > CLOCK_TOLERANCE_MS) {
        const message = `The episode ends ${Math.ceil(aheadMs / MS_PER_S)} seconds in the future. Correct the clock of the robot, or send its time as t.`
        const error = { type: 'error', message, episode_id: frame.episode_id }
        return void connection.sendIfFlowing(JSON.stringify(error), nowMs)
      }
      const full = waiting >= MAX_WAITING || (waitingByRobot.get(robotId) ?? 0) >= MAX_WAITING_PER_ROBOT
      if (!full) return void persist(episode)
      const error = {
        type: 'error',
        message: 'Too many episodes wait to be stored. Send this one again later.',
        episode_id: frame.episode_id,
        retry_after_ms: RETRY_AFTER_MS,
      }
      connection.sendIfFlowing(JSON.stringify(error), nowMs)
    },

    /** Stores and acknowledges all waiting episodes. Rejects if that takes too long. */
    flush: (): Promise<void> =>
      pTimeout(batchLoader.idle(), {
        milliseconds: FLUSH_LIMIT_MS,
        message: 'episodes were not stored in time',
      }),

    /** Discards the waiting episodes without an acknowledgement. */
    stop(): void {
      stopping.abort()
    },
  }
}
export type Episodes = ReturnType<typeof createEpisodes>

/** Picks the stored fields: a frame may contain others. Times of a frame with the robot's clock become those of the platform. */
function toReportedEpisode(robotId: string, frame: Episode, nowMs: number): ReportedEpisode {
  const aheadMs = frame.t === undefined ? 0 : frame.t - nowMs
  const toPlatformMs = (robotMs: number) => Math.max(0, Math.floor(robotMs - aheadMs))
  return {
    robotId,
    episodeId: frame.episode_id,
    startedAtMs: toPlatformMs(frame.started_at),
    endedAtMs: toPlatformMs(frame.ended_at),
    sizeBytes: frame.size_bytes,
    success: frame.success ?? null,
    uri: frame.uri ?? null,
    task: frame.task?.trim() ?? null,
  }
}

/** Returns whether a retry would fail the same way: PostgreSQL's classes 22 (data) and 23 (constraints). */
export function isDataError(cause: unknown): boolean {
  for (const error of causesOf(cause)) {
    if ('code' in error && /^2[23]/.test(String(error.code))) return true
  }
  return false
}
