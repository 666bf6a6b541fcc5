import { setTimeout as delay } from 'node:timers/promises'
import pTimeout from 'p-timeout'
import { HttpConnection, requestBytes } from '../rest/connection.ts'
import { type HubAddress, HubSocket } from './hub-socket.ts'
import { eventOf, seqOf } from './packets.ts'

/** One session: the source of its commits, and its observer with that one's hub. */
export interface SessionLane {
  readonly sessionId: string
  readonly by: RestCommit | BareEmit
  readonly observer: HubAddress
}

/** A message over REST. */
interface RestCommit {
  readonly over: 'REST'
  readonly port: number
  readonly apiKey: string
}

/** An event that a Socket.IO node emits on request. */
interface BareEmit {
  readonly over: 'Socket.IO'
  readonly address: HubAddress
}

export interface CommitReport {
  /** Milliseconds from the write of the request, and from the read of its answer (below 0: the event was first). */
  readonly fromRequestMs: readonly number[]
  readonly fromAnswerMs: readonly number[]
  /** Milliseconds from the write of the request to the read of its answer. */
  readonly answerMs: readonly number[]
  /** Committed, but never received by the observer. */
  readonly unseen: number
  /** Requests that began more than a millisecond late, because every lane or this process was busy. */
  readonly late: number
}

const SEEN_LIMIT_MS = 5_000
const LATE_MS = 1

interface OpenSessionLane {
  /** Sends a request; settles with the answer. */
  commit(): Promise<void>
  /** Called with every event that the observer reads. */
  onSeen: (seq: number) => void
  close(): void
}

/**
 * Commits at this rate, evenly spread over the lanes, each with one commit in flight. One process sends and observes,
 * so that one clock measures.
 */
export async function measureCommits(
  channels: readonly SessionLane[],
  perSecond: number,
  forMs: number,
): Promise<CommitReport> {
  const open = await Promise.all(channels.map(openSessionLane))
  const report = { fromRequestMs: [], fromAnswerMs: [], answerMs: [], unseen: 0, late: 0 } as {
    -readonly [K in keyof CommitReport]: CommitReport[K] extends number ? number : number[]
  }
  const startedMs = performance.now()
  let turn = 0
  try {
    await Promise.all(
      open.map(async (channel) => {
        for (;;) {
          const dueMs = startedMs + (turn++ * 1_000) / perSecond
          if (dueMs > startedMs + forMs) return
          await delay(Math.max(0, dueMs - performance.now()))
          if (performance.now() > dueMs + LATE_MS) report.late++
          await measureCommit(channel, report)
        }
      }),
    )
  } finally {
    for (const channel of open) channel.close()
  }
  return report
}

async function measureCommit(
  channel: OpenSessionLane,
  report: { fromRequestMs: number[]; fromAnswerMs: number[]; answerMs: number[]; unseen: number },
): Promise<void> {
  const seen = new Promise<number>((resolve) => {
    channel.onSeen = () => resolve(performance.now())
  })
  const sentMs = performance.now()
  await channel.commit()
  const answeredMs = performance.now()
  const seenMs = await pTimeout(seen, { milliseconds: SEEN_LIMIT_MS, message: false })
  report.answerMs.push(answeredMs - sentMs)
  if (seenMs === undefined) report.unseen++
  else {
    report.fromRequestMs.push(seenMs - sentMs)
    report.fromAnswerMs.push(seenMs - answeredMs)
  }
}

async function openSessionLane({ sessionId, by, observer }: SessionLane): Promise<OpenSessionLane> {
  const sender = by.over === 'REST' ? await restSender(sessionId, by) : await bareSender(sessionId, by)
  const channel: OpenSessionLane = {
    commit: sender.commit,
    onSeen() {},
    close() {
      sender.close()
      socket.destroy()
    },
  }
  const socket = await HubSocket.connect(observer, {
    event: (data, start, end) => channel.onSeen(seqOf(data, start, end)),
    closed: () => {},
  })
  const answer = (await socket.ask('session:watch', { session_id: sessionId })) as { ok?: boolean }
  if (answer?.ok !== true) throw new Error(`not allowed to watch: ${JSON.stringify(answer)}`)
  return channel
}

async function restSender(sessionId: string, { port, apiKey }: RestCommit) {
  const connection = await HttpConnection.open(port)
  const path = `/api/sessions/${sessionId}/messages`
  const request = requestBytes({ method: 'POST', path, apiKey, body: { body: 'Careful with the vase' } })
  return {
    async commit() {
      const { status, body } = await connection.send(request)
      if (status !== 201) throw new Error(`a message was refused: ${status} ${body}`)
    },
    close: () => connection.close(),
  }
}

async function bareSender(sessionId: string, { address }: BareEmit) {
  const socket = await HubSocket.connect(address, { event() {}, closed() {} })
  let seq = 0
  return {
    async commit() {
      await socket.ask('emit', eventOf(sessionId, ++seq))
    },
    close: () => socket.destroy(),
  }
}
