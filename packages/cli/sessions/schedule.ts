import type { Context } from '../context.ts'
import { type StartOptions, startSession } from './start-session.ts'

export async function run(cli: Context, robot: string, at: string, options: StartOptions): Promise<void> {
  await startSession(cli, robot, { ...options, at })
}
