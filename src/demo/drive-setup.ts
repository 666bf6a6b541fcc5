import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'

export const usage = `npm run drive -- [--api http://localhost:3000] [--key svc_live_…] [--robot <id>] [--session <id>] [--data-dir ./.data]

Drives a robot with the keyboard, as the operator whose API key is given. Without one it takes the demo operator's,
which "npm start" left in its data folder; without a robot, the first that is available, or the session that is open.
`

const Options = z.object({
  api: z.url({ protocol: /^https?$/ }).default('http://localhost:3000'),
  key: z.string().min(1).optional(),
  robot: z.uuid().optional(),
  session: z.uuid().optional(),
  'data-dir': z.string().default('./.data'),
})

export interface Driver {
  readonly api: string
  readonly key: string
  readonly sessionId: string
  /** The session was started here, so that whoever quits ends it. */
  readonly startedHere: boolean
}

/** A reason to end that the user can do something about. */
export class SetupError extends Error {}

/** One request to the REST API. @throws SetupError with the platform's own words when it is refused */
export async function ask<T>(
  { api, key }: Pick<Driver, 'api' | 'key'>,
  answer: z.ZodType<T>,
  path: string,
  body?: { method: 'POST' | 'PATCH'; json: object },
): Promise<T> {
  const response = await fetch(new URL(path, api), {
    method: body?.method ?? 'GET',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body.json) }),
    signal: AbortSignal.timeout(10_000),
  }).catch((cause) => {
    throw new SetupError(`${api} does not answer (${cause.message}). Is "npm start" running?`)
  })
  const value: unknown = await response.json().catch(() => null)
  const refusal = z.object({ error: z.string() }).safeParse(value)
  if (!response.ok) {
    throw new SetupError(`${path}: ${refusal.success ? refusal.data.error : `status ${response.status}`}`)
  }
  return answer.parse(value)
}

/** From the command line to a session that is open. @throws SetupError */
export async function setUp(args: readonly string[]): Promise<Driver> {
  const text = { type: 'string' } as const
  const names = { api: text, key: text, robot: text, session: text, 'data-dir': text }
  let given: z.infer<typeof Options>
  try {
    given = Options.parse(parseArgs({ args: [...args], options: names }).values)
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message
    throw new SetupError(`${why}\n\n${usage}`)
  }
  const who = { api: given.api, key: given.key ?? demoKey(given['data-dir']) }
  if (given.session) return { ...who, sessionId: given.session, startedHere: false }
  const Availability = z.object({ open_session_id: z.uuid().nullable() })
  const { open_session_id: open } = await ask(who, Availability, '/api/operator/availability')
  if (open) return { ...who, sessionId: open, startedHere: false }
  const robotId = given.robot ?? (await anyRobot(who))
  const start = { method: 'POST', json: { robotId } } as const
  const { sessionId } = await ask(who, z.object({ sessionId: z.uuid() }), '/api/sessions', start)
  return { ...who, sessionId, startedHere: true }
}

async function anyRobot(who: Pick<Driver, 'api' | 'key'>): Promise<string> {
  const Robots = z.object({ robots: z.array(z.object({ id: z.uuid() })) })
  const { robots } = await ask(who, Robots, '/api/operator/available-robots')
  if (!robots[0]) throw new SetupError('No robot is available to this operator now')
  return robots[0].id
}

function demoKey(dataDir: string): string {
  const path = join(dataDir, 'demo-keys.json')
  const stored = existsSync(path) ? z.record(z.string(), z.string()).parse(readJson(path)) : {}
  if (!stored.operator) throw new SetupError(`No --key, and no demo operator's in ${path}`)
  return stored.operator
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))
