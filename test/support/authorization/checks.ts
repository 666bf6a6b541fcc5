import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Attempt, AuthorizationWorld, Caller } from './authorization-world.ts'
import { type Rule, routeRules } from './route-rules.ts'

const attemptAt = async (at: AuthorizationWorld, route: string): Promise<Attempt> =>
  (await routeRules[route]?.attempt?.(at)) ?? {}

/** Expects each of these callers to get the status of the rule, and a body with the reason with an error. */
export async function expectAnswers(at: AuthorizationWorld, route: string, asked: readonly Caller[]) {
  const { expected } = routeRules[route] as Rule
  const answers: Partial<Record<Caller, number>> = {}
  let attempt: Attempt | undefined
  for (const caller of asked) {
    attempt ??= await attemptAt(at, route)
    const response = await at.perform(route, `Bearer ${at.tokens[caller]}`, attempt)
    // A refusal changes nothing, so the next caller finds the same objects.
    if (response.ok) attempt = undefined
    answers[caller] = response.status
    const text = await response.text()
    if (response.status >= 400) expect(JSON.parse(text)).toEqual({ error: expect.any(String) })
  }
  expect(answers).toEqual(Object.fromEntries(asked.map((caller) => [caller, expected[caller]])))
}

/** Expects these credentials to be refused, or to be ignored by a public route. */
export async function expectNoEntry(
  at: AuthorizationWorld,
  route: string,
  bad: Readonly<Record<string, string | undefined>>,
) {
  const { access, expected, answersRobot } = routeRules[route] as Rule
  const attempt = await attemptAt(at, route)
  for (const [what, authorization] of Object.entries(bad)) {
    const response = await at.perform(route, authorization, attempt)
    if (access === 'public') {
      const ofRobot = what === 'a robot’s token' ? answersRobot : undefined
      expect(response.status, what).toBe(ofRobot ?? expected['no role'])
      await response.body?.cancel()
      continue
    }
    expect(response.status, what).toBe(401)
    expect(response.headers.get('WWW-Authenticate'), what).toBe('Bearer')
    expect(await response.json(), what).toEqual({ error: expect.any(String) })
  }
}

/** Returns the callers that must not be able to discover the object of a route. */
export const strangersTo = (route: string): Caller[] =>
  route.includes('{id}')
    ? (Object.entries((routeRules[route] as Rule).expected) as [Caller, number][])
        .filter(([, status]) => status === 404)
        .map(([caller]) => caller)
    : []

/** Headers that differ between any two responses. */
const changing = new Set(['date', 'x-request-id', 'ratelimit', 'ratelimit-policy'])
const anyId = /(?<=\/)(?:[0-9a-f]{8}-[0-9a-f-]{27}|\d+)(?=\/|$)/
const unknownId = (id: string) => (id.includes('-') ? randomUUID() : '999999')

/** Expects these callers to get the same bytes for the object of another user as for an unknown id. */
export async function expectHidden(at: AuthorizationWorld, route: string, strangers: readonly Caller[]) {
  const { path = route.split(' ')[1] as string, body } = await attemptAt(at, route)
  for (const caller of strangers) {
    const responseTo = async (requested: string) => {
      const response = await at.perform(route, `Bearer ${at.tokens[caller]}`, { path: requested, body })
      const headers = [...response.headers].filter(([name]) => !changing.has(name))
      return { status: response.status, headers, bytes: Buffer.from(await response.arrayBuffer()) }
    }
    const foreign = await responseTo(path)
    expect(foreign.status, caller).toBe(404)
    expect(foreign, caller).toEqual(await responseTo(path.replace(anyId, unknownId)))
  }
}
