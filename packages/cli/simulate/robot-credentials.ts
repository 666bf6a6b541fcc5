import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import { z } from 'zod'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { createRobotStore, type RobotStore } from './robot-store.ts'

/** Credentials of a simulated robot. */
export interface RobotCredentials {
  readonly id: string
  readonly name: string
  readonly controlUrl: string
  readonly token: string
  /** Removes an invalid token from the store, so that the next call registers another robot. */
  readonly forget?: () => Promise<void>
}

/** Response to the registration of a robot. */
const RobotRegistration = z.looseObject({
  control_url: z.url({ protocol: /^wss?$/ }),
  robot_token: z.string().min(1),
  id: z.string().optional(),
  name: z.string().optional(),
})

/**
 * Returns robots of the caller: unused robots of earlier calls, and new ones up to the wanted number.
 * @throws ApiError when the platform refuses
 */
export async function acquireRobots(
  cli: Context,
  wanted: { count: number; type: string; name: string },
): Promise<RobotCredentials[]> {
  const { id: ownerId } = await answerOf(cli.rest.GET('/api/auth/profile'))
  const robotStore = createRobotStore(cli)
  const storedRobots = await robotStore.listByOwner(ownerId)
  const robots: RobotCredentials[] = []
  for (const { id, robot_token: token } of storedRobots) {
    if (robots.length === wanted.count) break
    const robot = await findRobot(cli, id)
    if (!robot) await robotStore.forget(id)
    // Another process runs it, or has run it within the heartbeat timeout.
    else if (robot.status !== 'OFFLINE') cli.out.note(`${robot.name} is already online in another process`)
    else
      robots.push({
        id,
        name: robot.name,
        controlUrl: robot.control_url,
        token,
        forget: () => robotStore.forget(id),
      })
  }
  let number = storedRobots.length
  while (robots.length < wanted.count) {
    number += 1
    const name = `${wanted.name} ${number}`
    robots.push(await registerRobot(cli, robotStore, { ownerId, name, type: wanted.type }))
  }
  return robots
}

/** Reads the robots of a file: one JSON document, a JSON array, or JSON Lines. @throws Failure without a robot */
export async function loadRobots(path: string, count: number | undefined): Promise<RobotCredentials[]> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new Failure('usage', `${path} cannot be read (${cause.code})`, { cause })
  })
  let robots: z.infer<typeof RobotRegistration>[]
  try {
    robots = RobotRegistration.array().min(1).parse(documentsIn(text))
  } catch (cause) {
    const next = 'Use the output of robots register --json, a JSON array of it, or JSON Lines.'
    throw new Failure('usage', `${path} is not a list of robots. ${next}`, { cause })
  }
  if (count !== undefined && count > robots.length) {
    throw new Failure('usage', `${path} has only ${robots.length} robots`)
  }
  return robots.slice(0, count).map(({ control_url: controlUrl, robot_token: token, id, name }, index) => ({
    controlUrl,
    token,
    id: id ?? controlUrl.split('/').at(-2) ?? '',
    name: name ?? `robot ${index + 1}`,
  }))
}

function documentsIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : [value]
  } catch {
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    return lines.map((line): unknown => JSON.parse(line))
  }
}

async function findRobot(cli: Context, id: string): Promise<Schemas['RobotDetail'] | undefined> {
  try {
    const request = () => cli.rest.GET('/api/client/robots/{id}', { params: { path: { id } } })
    return await withRateLimitRetry(cli, () => answerOf(request()))
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 404) return undefined
    throw cause
  }
}

async function registerRobot(
  cli: Context,
  robotStore: RobotStore,
  { ownerId, name, type }: { ownerId: string; name: string; type: string },
): Promise<RobotCredentials> {
  const body = { name, robot_type: type, hardware_id: `simulated-${randomUUID()}`, tags: ['simulated'] }
  const robot = await withRateLimitRetry(cli, () => answerOf(cli.rest.POST('/api/client/robots', { body })))
  const { id, robot_token, control_url: controlUrl } = robot
  await robotStore.save({ server: cli.server, owner_id: ownerId, id, name, robot_token })
  return { id, name, controlUrl, token: robot_token, forget: () => robotStore.forget(id) }
}

/** Repeats a request after the delay of a 429 response, because many robots need many requests. */
async function withRateLimitRetry<T>({ out, signal }: Context, send: () => Promise<T>): Promise<T> {
  while (true) {
    try {
      return await send()
    } catch (cause) {
      if (!(cause instanceof ApiError) || cause.status !== 429 || cause.retryAfterS === undefined) throw cause
      out.note(`Too many requests. Waiting ${cause.retryAfterS} s …`)
      await delay(cause.retryAfterS * 1_000, undefined, { signal })
    }
  }
}
