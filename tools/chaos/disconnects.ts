import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { HubClient, UnacknowledgedError } from '@wheelhouse/sdk'
import { layCable } from './cable.ts'
import { added, check, post, type Story, type Watcher } from './disconnects-check.ts'

/** Clients of each session. */
const WATCHERS = 4
/** Longest moment between two breaks of one client: enough to come back and catch up, now and then. */
const MAX_BREAK_PAUSE_MS = 200
/** Between two messages of one speaker; a session has two. */
const TALK_PAUSE_MS = 20
/** Somewhere in the handshake, the answer to a question, or a page of the log. */
const MAX_BYTES = 20_000

export interface DisconnectsOptions {
  /** Origins of the hubs; every connection goes to one of them, by chance. */
  readonly hubs: readonly string[]
  /** Origin of the REST API, which has the truth. */
  readonly baseUrl: string
  /** Sessions that are open, each with the tokens of people who may chat in it. */
  readonly sessions: readonly { readonly id: string; readonly tokens: readonly string[] }[]
  /** How often a connection breaks, all clients together, at least. */
  readonly breaks: number
  /** The same seed makes the same plan; what it meets depends on the moment. */
  readonly seed: number
  readonly onProgress?: (breaks: number) => void
}

export interface DisconnectsReport {
  readonly seed: number
  readonly clients: number
  readonly breaks: number
  /** Chat messages that were acknowledged. */
  readonly acknowledged: number
  /** Entries of all logs. */
  readonly entries: number
  /** Every gap, double, disorder and loss; nothing else matters. */
  readonly problems: readonly string[]
}

/**
 * Breaks connections of clients at random moments while people chat, moving them between hubs, and looks whether every
 * client was given exactly the log: no gap, no double, no disorder; and whether what was acknowledged is there once.
 */
export async function runDisconnects(options: DisconnectsOptions): Promise<DisconnectsReport> {
  const problems: string[] = []
  const stories: Story[] = []
  let over = false
  const count = () =>
    stories.flatMap(({ watchers }) => watchers).reduce((sum, one) => sum + one.cable.breaks, 0)
  try {
    for (const [index, session] of options.sessions.entries()) {
      stories.push(await openStory(options, session, index, problems))
    }
    const talking = stories.flatMap((story, index) => {
      const random = randomFrom(options.seed, `talk ${index}`)
      const atHub = (body: string) => pick(story.watchers, random).client.sendChat(story.id, body)
      const overRest = (body: string) => post(options.baseUrl, story, body)
      return [atHub, overRest].map((say) => talk(story, say, () => over, problems))
    })
    const breaking = stories.flatMap(({ watchers }, index) =>
      watchers.map((watcher, number) =>
        torment(watcher, randomFrom(options.seed, `break ${index} ${number}`), () => {
          const breaks = count()
          options.onProgress?.(breaks)
          return breaks >= options.breaks
        }),
      ),
    )
    await Promise.all(breaking)
    over = true
    await Promise.all(talking)
    let entries = 0
    for (const story of stories) entries += await check(options.baseUrl, story, problems)
    return {
      ...{ seed: options.seed, entries, problems, breaks: count() },
      clients: stories.reduce((sum, { watchers }) => sum + watchers.length, 0),
      acknowledged: stories.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0),
    }
  } finally {
    over = true
    for (const { client, cable } of stories.flatMap(({ watchers }) => watchers)) {
      client.close()
      await cable.remove()
    }
  }
}

async function openStory(
  { hubs, seed }: DisconnectsOptions,
  { id, tokens }: DisconnectsOptions['sessions'][number],
  index: number,
  problems: string[],
): Promise<Story> {
  const watchers: Watcher[] = []
  for (let number = 0; number < WATCHERS; number++) {
    const random = randomFrom(seed, `hub ${index} ${number}`)
    const cable = await layCable(() => new URL(pick(hubs, random)))
    const token = tokens[number % tokens.length] as string
    const client = new HubClient({ url: cable.url, token, reconnect: { baseMs: 2, maxMs: 50 } })
    const watcher: Watcher = { cable, client, last: 0, sum: '' }
    watchers.push(watcher)
    await client.connect()
    await client.watch(id, {
      onEvent(event) {
        if (event.seq !== watcher.last + 1) {
          problems.push(`session ${index}, client ${number}: ${event.seq} after ${watcher.last}`)
        }
        watcher.last = event.seq
        watcher.sum = added(watcher.sum, event)
      },
      onReset: () => problems.push(`session ${index}, client ${number}: the log began anew`),
    })
  }
  return { id, token: tokens[0] as string, watchers, acknowledged: new Map() }
}

/** Somebody says something, waits until it is acknowledged, and goes on. */
async function talk(
  story: Story,
  say: (body: string) => Promise<{ seq: number }>,
  isOver: () => boolean,
  problems: string[],
): Promise<void> {
  while (!isOver()) {
    const body = randomUUID()
    try {
      const { seq } = await say(body)
      story.acknowledged.set(seq, body)
    } catch (cause) {
      // Its outcome is unknown then, which is no problem as long as it is not there twice.
      if (!(cause instanceof UnacknowledgedError)) problems.push(`not sent: ${cause}`)
    }
    await delay(TALK_PAUSE_MS)
  }
}

/** Breaks one client's connection, now or in the middle of what comes next, again and again. */
async function torment({ cable, client }: Watcher, random: () => number, isEnough: () => boolean) {
  while (!isEnough()) {
    const patient = random() < 0.5
    if (random() < 0.5) cable.cutAfter(Math.ceil(random() ** 3 * MAX_BYTES))
    else cable.cut()
    await delay(random() * MAX_BREAK_PAUSE_MS)
    while (patient && !client.connected && !isEnough()) await delay(5)
  }
  cable.spare()
}

const pick = <T>(all: readonly T[], random: () => number): T => all[Math.floor(random() * all.length)] as T

/** Numbers from 0 to 1, the same ones for the same seed and purpose. */
function randomFrom(seed: number, purpose: string): () => number {
  let count = 0
  return () => {
    const digest = createHash('sha1').update(`${seed} ${purpose} ${count++}`).digest()
    return digest.readUInt32BE() / 2 ** 32
  }
}
