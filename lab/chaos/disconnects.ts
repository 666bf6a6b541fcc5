import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { HubClient, UnacknowledgedError } from '@wheelhouse/sdk'
import { createBreakableLink } from './breakable-link.ts'
import { added, check, type Observer, post, type Scenario } from './disconnects-check.ts'

/** Clients of each session. */
const OBSERVERS = 4
/** Longest time between two breaks of one client: sometimes enough to reconnect and catch up. */
const MAX_BREAK_PAUSE_MS = 200
/** Time between two messages of one sender; a session has two senders. */
const CHAT_PAUSE_MS = 20
/** A position in the handshake, an answer, or a page of the log. */
const MAX_BYTES = 20_000

export interface DisconnectsOptions {
  /** Origins of the hubs; every connection uses a random one. */
  readonly hubs: readonly string[]
  /** Origin of the REST API, whose log is the reference. */
  readonly baseUrl: string
  /** Open sessions, each with the tokens of users who may chat in it. */
  readonly sessions: readonly { readonly id: string; readonly tokens: readonly string[] }[]
  /** Minimum number of broken connections, of all clients together. */
  readonly breaks: number
  /** The same seed gives the same plan; its effects depend on timing. */
  readonly seed: number
  readonly onProgress?: (breaks: number) => void
}

export interface DisconnectsReport {
  readonly seed: number
  readonly clients: number
  readonly breaks: number
  /** Number of acknowledged chat messages. */
  readonly acknowledged: number
  /** Number of entries of all logs. */
  readonly entries: number
  /** Every gap, duplicate, reordering and loss. */
  readonly problems: readonly string[]
}

/**
 * Breaks connections of clients at random moments while users chat, moves them between hubs, and checks that every
 * client received exactly the log, without gap, duplicate or reordering, and that acknowledged messages are stored once.
 */
export async function runDisconnects(options: DisconnectsOptions): Promise<DisconnectsReport> {
  const problems: string[] = []
  const scenarios: Scenario[] = []
  let over = false
  const count = () =>
    scenarios.flatMap(({ observers }) => observers).reduce((sum, item) => sum + item.link.breaks, 0)
  try {
    for (const [index, session] of options.sessions.entries()) {
      scenarios.push(await openScenario(options, session, index, problems))
    }
    const chatting = scenarios.flatMap((scenario, index) => {
      const random = randomFrom(options.seed, `talk ${index}`)
      const atHub = (body: string) => pick(scenario.observers, random).client.sendChat(scenario.id, body)
      const overRest = (body: string) => post(options.baseUrl, scenario, body)
      return [atHub, overRest].map((send) => sendMessages(scenario, send, () => over, problems))
    })
    const breaking = scenarios.flatMap(({ observers }, index) =>
      observers.map((observer, number) =>
        breakRepeatedly(observer, randomFrom(options.seed, `break ${index} ${number}`), () => {
          const breaks = count()
          options.onProgress?.(breaks)
          return breaks >= options.breaks
        }),
      ),
    )
    await Promise.all(breaking)
    over = true
    await Promise.all(chatting)
    let entries = 0
    for (const scenario of scenarios) entries += await check(options.baseUrl, scenario, problems)
    return {
      seed: options.seed,
      entries,
      problems,
      breaks: count(),
      clients: scenarios.reduce((sum, { observers }) => sum + observers.length, 0),
      acknowledged: scenarios.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0),
    }
  } finally {
    over = true
    for (const { client, link } of scenarios.flatMap(({ observers }) => observers)) {
      client.close()
      await link[Symbol.asyncDispose]()
    }
  }
}

async function openScenario(
  { hubs, seed }: DisconnectsOptions,
  { id, tokens }: DisconnectsOptions['sessions'][number],
  index: number,
  problems: string[],
): Promise<Scenario> {
  const observers: Observer[] = []
  for (let number = 0; number < OBSERVERS; number++) {
    const random = randomFrom(seed, `hub ${index} ${number}`)
    const link = await createBreakableLink(() => pick(hubs, random))
    const token = tokens[number % tokens.length] as string
    const client = new HubClient({ url: link.url, token, reconnect: { baseMs: 2, maxMs: 50 } })
    const observer: Observer = { link, client, last: 0, sum: '' }
    observers.push(observer)
    await client.connect()
    await client.watch(id, {
      onEvent(event) {
        if (event.seq !== observer.last + 1) {
          problems.push(`session ${index}, client ${number}: ${event.seq} after ${observer.last}`)
        }
        observer.last = event.seq
        observer.sum = added(observer.sum, event)
      },
      onReset: () => problems.push(`session ${index}, client ${number}: the log was reset`),
    })
  }
  return { id, token: tokens[0] as string, observers, acknowledged: new Map() }
}

/** Sends a message, waits until it is acknowledged, and continues with the next. */
async function sendMessages(
  scenario: Scenario,
  send: (body: string) => Promise<{ seq: number }>,
  isOver: () => boolean,
  problems: string[],
): Promise<void> {
  while (!isOver()) {
    const body = randomUUID()
    try {
      const { seq } = await send(body)
      scenario.acknowledged.set(seq, body)
    } catch (cause) {
      // Its outcome is unknown. That is correct unless it is stored twice.
      if (!(cause instanceof UnacknowledgedError)) problems.push(`a message was not sent: ${cause}`)
    }
    await delay(CHAT_PAUSE_MS)
  }
}

/** Breaks one client's connection repeatedly, either at once or inside the next packet. */
async function breakRepeatedly({ link, client }: Observer, random: () => number, isEnough: () => boolean) {
  while (!isEnough()) {
    const patient = random() < 0.5
    if (random() < 0.5) link.cutAfter(Math.ceil(random() ** 3 * MAX_BYTES))
    else link.cut()
    await delay(random() * MAX_BREAK_PAUSE_MS)
    while (patient && !client.connected && !isEnough()) await delay(5)
  }
  link.cancelBreak()
}

const pick = <T>(all: readonly T[], random: () => number): T => all[Math.floor(random() * all.length)] as T

/** Generates random numbers from 0 to 1, reproducible by seed and purpose. */
function randomFrom(seed: number, purpose: string): () => number {
  let count = 0
  return () => {
    const digest = createHash('sha1').update(`${seed} ${purpose} ${count++}`).digest()
    return digest.readUInt32BE() / 2 ** 32
  }
}
