import { chmod, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { answerOf } from '@wheelhouse/sdk'
import { z } from 'zod'
import type { Context } from '../lib/context.ts'
import { configDirectory, OWNER_ONLY_FILE, writeOwnerFile } from '../lib/credentials.ts'
import { Failure } from '../lib/failure.ts'

const VERSION = 1
/** Robots of this user on this machine; of more, the oldest is forgotten. */
const MAX_STORED_ROBOTS = 64

/** How a robot connects to the platform. */
const RobotAccess = z.object({
  name: z.string(),
  control_url: z.url({ protocol: /^wss?$/ }),
  robot_token: z.string().min(1),
})
export type RobotAccess = z.infer<typeof RobotAccess>

const StoredAccess = z.object({
  version: z.literal(VERSION),
  /** By the path of the robot.yaml. */
  robots: z.record(z.string(), RobotAccess),
})

/**
 * Returns how the robot of a robot.yaml connects: from a pairing code, which works once and is stored for the next start; from
 * CONTROL_URL and ROBOT_TOKEN; or from an earlier pairing.
 * @throws Failure without any of them; ApiError for a code that the platform refuses
 */
export async function accessOf(cli: Context, config: string, code: string | undefined): Promise<RobotAccess> {
  const { CONTROL_URL, ROBOT_TOKEN } = cli.env
  const path = join(configDirectory(cli.env), 'ros-robots.json')
  const key = resolve(config)
  if (code !== undefined) {
    const paired = RobotAccess.parse(await answerOf(cli.publicRest.POST('/api/pairing', { body: { code } })))
    await store(cli, path, key, paired)
    cli.out.note(`Paired with ${paired.name}. The next start needs no code.`)
    return paired
  }
  if (CONTROL_URL && ROBOT_TOKEN)
    return { name: 'The robot', control_url: CONTROL_URL, robot_token: ROBOT_TOKEN }
  const stored = (await read(path))[key]
  if (stored) return stored
  const next = 'Take a pairing code from the page of the robot in the console and add --code CODE'
  throw new Failure(
    'usage',
    `The robot of ${config} is not paired. ${next}, or set CONTROL_URL and ROBOT_TOKEN.`,
  )
}

async function store(cli: Context, path: string, key: string, access: RobotAccess): Promise<void> {
  // Under the lock of the settings folder, because robots may be paired at once.
  await cli.store.update(async (credentials) => {
    const { [key]: _, ...others } = await read(path)
    const robots = Object.fromEntries([...Object.entries(others).slice(1 - MAX_STORED_ROBOTS), [key, access]])
    await writeOwnerFile(path, { version: VERSION, robots })
    return [credentials, undefined] as const
  }, cli.signal)
}

async function read(path: string): Promise<Readonly<Record<string, RobotAccess>>> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    throw new Failure('refused', `${path} cannot be read (${cause.code})`, { cause })
  })
  if (text === undefined) return {}
  await chmod(path, OWNER_ONLY_FILE)
  try {
    return StoredAccess.parse(JSON.parse(text)).robots
  } catch (cause) {
    throw new Failure('refused', `${path} is damaged. Move it away and pair the robots again.`, { cause })
  }
}
