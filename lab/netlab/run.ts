import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import pTimeout from 'p-timeout'
import { waitUntil } from '../../src/core/concurrency/concurrency.ts'
import type { EmulatedLink, LinkReport } from '../../test/support/network/link/emulated-link.ts'
import type { Profile } from '../../test/support/network/profiles.ts'
import type { Call } from '../../test/support/processes/rpc.ts'
import { monotonicMs, type Span } from './ends/clock.ts'
import type { OperatorsProcess } from './ends/operators.ts'
import type { RobotsProcess } from './ends/robots.ts'
import { type Figures, figuresOf } from './figures.ts'
import { type OpenedPairs, type Served, type Transport, TTL_MS } from './transports/transport.ts'

const CONNECT_LIMIT_MS = 180_000
const MOVING_LIMIT_MS = 180_000
/** Time in which the connections settle before the measurement. */
const WARM_UP_MS = 2_000
/** Longest wait for the last datagram of an upload, which the queue may have dropped. */
const UPLOAD_SETTLE_MS = 3_000

/** One transport on one profile. */
export interface Result {
  readonly transport: string
  readonly role: Transport['role']
  readonly figures: Figures
  readonly sent: number
  /** Commands that the operator's end dropped. */
  readonly unsent: number
  /** Connections that the operators lost. */
  readonly lost: number
  /** Commands that the server refused, by reason. */
  readonly refused: Readonly<Record<string, number>>
  readonly link: LinkReport
  /** Longest time in which a process of the lab did not run. */
  readonly longestPauseMs: number
}

/** Links and processes of a run. */
export interface RunParts {
  readonly link: EmulatedLink
  /** The robots' own link; undefined if they are at the site. */
  readonly robotLink: EmulatedLink | undefined
  readonly operators: Call<OperatorsProcess>
  readonly robots: Call<RobotsProcess>
  /** The address of the site, which receives uploads. */
  readonly host: string
}

/** Measures one transport on one profile. */
export async function runTransport(
  parts: RunParts,
  run: {
    transport: Transport
    served: Served
    profile: Profile
    pairs: number
    seconds: number
    seed: string
  },
): Promise<Result> {
  const { link, robotLink, operators, robots } = parts
  const { transport, served, profile, seconds, seed } = run
  const pairs = profile.pairs ?? run.pairs
  const ways = { aToB: profile.up, bToA: profile.down }
  await link.configure({ ...ways, seed })
  await robotLink?.configure({ ...ways, seed: `${seed}/robots` })
  try {
    await pTimeout(connect(parts, { transport, opened: await served.open(pairs) }), {
      milliseconds: CONNECT_LIMIT_MS,
      message: `${transport.name}: not all ends could connect.`,
    })
    const moving = await waitUntil(async () => (await robots('moving')) === pairs, MOVING_LIMIT_MS)
    if (!moving) throw new Error(`${transport.name}: only ${await robots('moving')} of ${pairs} robots move.`)
    await delay(WARM_UP_MS)
    await Promise.all([robots('mark'), operators('mark')])
    await Promise.all([link.begin(), robotLink?.begin()])
    const fromMs = monotonicMs()
    const uploads = await disturb(parts, profile, seconds * 1_000)
    const toMs = monotonicMs()
    // The reports come before the operators stop, so that this stop is not counted.
    const [driven, executed] = await Promise.all([operators('report'), robots('report')])
    const report = await link.report()
    const robotReport = await robotLink?.report()
    const disturbances: Span[] = [...outagesOf(report), ...uploads]
    const pauses: Span[] = [
      ...driven.pauses,
      ...executed.pauses,
      ...report.pauses_ms,
      ...(robotReport?.pauses_ms ?? []),
    ]
    const { sent, unsent, lost, refused } = driven
    return {
      transport: transport.name,
      role: transport.role,
      figures: figuresOf({ pairs, fromMs, toMs, ttlMs: TTL_MS, robots: executed, disturbances, pauses }),
      sent,
      unsent,
      lost,
      refused,
      link: report,
      longestPauseMs: Math.max(0, ...pauses.map(([pausedMs, resumedMs]) => resumedMs - pausedMs)),
    }
  } finally {
    await Promise.all([operators('close'), robots('close')])
  }
}

/** Returns the outages of a link. Those of both directions have the same times, if both have any. */
const outagesOf = ({ a_to_b, b_to_a }: LinkReport): Span[] =>
  a_to_b.outages_ms.length > 0 ? a_to_b.outages_ms : b_to_a.outages_ms

/** Connects the robots, and then the operators, which begin to drive. */
async function connect(
  { operators, robots }: RunParts,
  { transport, opened }: { transport: Transport; opened: OpenedPairs },
): Promise<void> {
  await robots('open', transport.name, opened.robots)
  await operators('open', transport.name, await opened.operators())
}

/** Lets the time of the run pass, with the uploads of the profile. Returns their times. */
async function disturb(parts: RunParts, { uploads, up }: Profile, forMs: number): Promise<Span[]> {
  const untilMs = monotonicMs() + forMs
  const spans: Span[] = []
  for (let nextMs = untilMs - forMs + (uploads?.firstS ?? 0) * 1_000; uploads && nextMs < untilMs; ) {
    await delay(Math.max(0, nextMs - monotonicMs()))
    spans.push(
      await upload(parts, { bytes: uploads.bytes, rateBps: 2 * (up.rateBps ?? Number.POSITIVE_INFINITY) }),
    )
    nextMs += uploads.everyS * 1_000
  }
  await delay(Math.max(0, untilMs - monotonicMs()))
  return spans
}

/** Sends an upload through the operators' link. Returns when it began, and when its last datagram arrived. */
async function upload(
  { operators, host }: RunParts,
  { bytes, rateBps }: { bytes: number; rateBps: number },
): Promise<Span> {
  const sink = createSocket('udp4')
  const startedMs = monotonicMs()
  let arrivedMs = startedMs
  sink.on('message', () => {
    arrivedMs = monotonicMs()
  })
  try {
    await operators('upload', { host, port: await portOf(sink, host), bytes, rateBps })
    await waitUntil(() => monotonicMs() - arrivedMs > UPLOAD_SETTLE_MS / 10, UPLOAD_SETTLE_MS)
  } finally {
    sink.close()
  }
  return [startedMs, arrivedMs]
}

async function portOf(sink: Socket, host: string): Promise<number> {
  sink.bind(0, host)
  await once(sink, 'listening')
  return sink.address().port
}
