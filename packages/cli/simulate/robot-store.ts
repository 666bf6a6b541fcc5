import { chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Context } from '../context.ts'
import { configDirectory } from '../credentials/config-directory.ts'
import { OWNER_ONLY_FILE, writeOwnerFile } from '../credentials/owner-file.ts'
import { Failure } from '../failure.ts'

const VERSION = 1

/** A robot that this command has registered, with the token that the platform returns only once. */
const StoredRobot = z.object({
  server: z.url(),
  owner_id: z.string(),
  id: z.string(),
  name: z.string(),
  robot_token: z.string(),
})
export type StoredRobot = z.infer<typeof StoredRobot>

const StoredRobotsFile = z.object({ version: z.literal(VERSION), robots: z.array(StoredRobot) })

export type RobotStore = ReturnType<typeof createRobotStore>

/** Stores the registered robots in a file next to the credentials. Only its owner can read it. */
export function createRobotStore({ env, store, server, signal }: Context) {
  const folder = configDirectory(env)
  const path = join(folder, 'simulated-robots.json')

  async function read(): Promise<readonly StoredRobot[]> {
    const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') return undefined
      throw new Failure('refused', `${path} cannot be read (${cause.code})`, { cause })
    })
    if (text === undefined) return []
    await chmod(path, OWNER_ONLY_FILE)
    try {
      return StoredRobotsFile.parse(JSON.parse(text)).robots
    } catch (cause) {
      const next = 'Move the file away. The next call then registers new robots.'
      throw new Failure('refused', `${path} is not a robot file of wheelhouse. ${next}`, { cause })
    }
  }

  /** Changes the file under the lock of the settings folder, so that concurrent processes do not overwrite changes. */
  async function change(edit: (robots: readonly StoredRobot[]) => readonly StoredRobot[]): Promise<void> {
    await store.update(async (credentials) => {
      await writeOwnerFile(path, { version: VERSION, robots: edit(await read()) })
      return [credentials, undefined] as const
    }, signal)
  }

  return {
    /** Returns the robots of an owner at this platform, in order of registration. */
    listByOwner: async (ownerId: string) =>
      (await read()).filter((robot) => robot.server === server && robot.owner_id === ownerId),
    save: (robot: StoredRobot) => change((robots) => [...robots, robot]),
    forget: (id: string) =>
      change((robots) => robots.filter((robot) => robot.server !== server || robot.id !== id)),
  }
}
