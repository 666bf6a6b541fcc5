import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import type { HubClient } from '@wheelhouse/sdk'
import type { BreakableLink } from './breakable-link.ts'

/** Time that all clients have at the end to receive the whole log. */
const COMPLETE_MS = 180_000
const PAGE = 200

/** An observer of a session with a separate link. It stores a checksum of the log it received. */
export interface Observer {
  readonly link: BreakableLink
  readonly client: HubClient
  last: number
  sum: string
}

export interface Scenario {
  readonly id: string
  readonly token: string
  readonly observers: Observer[]
  /** Acknowledged messages, by their number in the log. */
  readonly acknowledged: Map<number, string>
}

/** Compares the log that every client received with the stored log; returns its length. */
export async function check(baseUrl: string, scenario: Scenario, problems: string[]): Promise<number> {
  let [last, sum] = [0, '']
  const bodies = new Set<unknown>()
  for (;;) {
    const page = await readLog(baseUrl, scenario, last)
    if (page.length === 0) break
    for (const event of page) {
      if (event.seq !== last + 1) problems.push(`the stored log of ${scenario.id} skips to ${event.seq}`)
      last = event.seq
      sum = added(sum, event)
      if (event.type !== 'chat.message') continue
      const { body } = event.data
      if (bodies.has(body)) problems.push(`stored twice: ${body}`)
      bodies.add(body)
      if (scenario.acknowledged.get(event.seq) === body) continue
      if (scenario.acknowledged.has(event.seq)) problems.push(`${body} was not acknowledged as ${event.seq}`)
    }
  }
  for (const body of scenario.acknowledged.values()) {
    if (!bodies.has(body)) problems.push(`acknowledged and lost: ${body}`)
  }
  const deadlineMs = performance.now() + COMPLETE_MS
  for (const [number, observer] of scenario.observers.entries()) {
    while (observer.last < last && performance.now() < deadlineMs) await delay(10)
    if (observer.last !== last) problems.push(`client ${number} has ${observer.last} of ${last}`)
    else if (observer.sum !== sum) problems.push(`client ${number} received something else than the log`)
  }
  return last
}

const readLog = async (baseUrl: string, scenario: Scenario, after: number): Promise<SessionLogEvent[]> =>
  (await rest<{ events: SessionLogEvent[] }>(baseUrl, scenario, `events?limit=${PAGE}&after=${after}`)).events

/** Sends a chat message over REST. */
export const post = (baseUrl: string, scenario: Scenario, body: string) =>
  rest<{ seq: number }>(baseUrl, scenario, 'messages', { body })

async function rest<T>(baseUrl: string, { id, token }: Scenario, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${baseUrl}/api/sessions/${id}/${path}`, {
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

/** Returns the checksum of a log with its next entry. */
export const added = (sum: string, { session_id, seq, type, data, at }: SessionLogEvent) =>
  createHash('sha1')
    .update(`${sum} ${JSON.stringify([session_id, seq, type, data, at], inOrder)}`)
    .digest('base64')

/** Sorts keys, so that equal objects have equal texts. */
const inOrder = (_key: string, value: unknown) =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([item], [other]) => (item < other ? -1 : 1)))
    : value
