import { afterAll, beforeAll, test } from 'vitest'
import {
  type AuthorizationWorld,
  callers,
  createAuthorizationWorld,
} from '../../support/authorization/authorization-world.ts'
import {
  expectAnswers,
  expectHidden,
  expectNoEntry,
  strangersTo,
} from '../../support/authorization/checks.ts'
import { routeRules } from '../../support/authorization/route-rules.ts'

// The whole matrix over HTTP. test/fast/contract compares the declarations with it, and asks each route a few times.

const routes = Object.keys(routeRules)

let at: AuthorizationWorld
let bad: Awaited<ReturnType<AuthorizationWorld['badCredentials']>>
beforeAll(async () => {
  at = await createAuthorizationWorld()
  bad = await at.badCredentials()
})
afterAll(() => at[Symbol.asyncDispose]())

test.each(routes)('%s admits the expected callers', (route) => expectAnswers(at, route, callers))

test.each(routes)('%s admits no caller without a valid credential', (route) => expectNoEntry(at, route, bad))

test.each(routes.filter((route) => strangersTo(route).length > 0))(
  '%s answers a foreign id and an unknown one with the same bytes',
  (route) => expectHidden(at, route, strangersTo(route)),
)
