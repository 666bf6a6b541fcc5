import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { openKeys } from '../screen/keys.ts'
import { canDraw, openLiveScreen } from '../screen/live-screen.ts'
import { styled } from '../text.ts'
import { clockOf } from '../watch/event-text.ts'
import { Fleet, type FleetMemberStatus } from './fleet.ts'
import { fleetScreen } from './fleet-screen.ts'
import { MAX_ROBOTS } from './max-robots.ts'
import { acquireRobots, loadRobots, type RobotCredentials } from './robot-credentials.ts'

export interface SimulateOptions {
  readonly type: string
  readonly name: string
  readonly tokenFile?: string
  readonly lines?: true
}

/** Runs simulated robots until Ctrl-C, or until the platform has refused all of them. */
export async function run(cli: Context, count: number | undefined, options: SimulateOptions): Promise<void> {
  const { tokenFile, type, name } = options
  const robots = tokenFile
    ? await loadRobots(tokenFile, count)
    : await acquireRobots(cli, { count: count ?? 1, type, name })
  if (robots.length > MAX_ROBOTS) {
    throw new Failure(
      'usage',
      `${robots.length} robots are too many for one process. Set a count up to ${MAX_ROBOTS}.`,
    )
  }
  const fleet = canDraw(cli) && !options.lines ? await onScreen(cli, robots) : await inLines(cli, robots)
  cli.signal.throwIfAborted()
  const reasons = [...new Set(fleet.members.map(({ reason }) => reason))].join('; ')
  throw new Failure('refused', `The platform has refused all robots: ${reasons}`)
}

async function inLines(cli: Context, robots: readonly RobotCredentials[]): Promise<Fleet> {
  const { out } = cli
  const reportStatus = ({ id, name, link, reason, session }: FleetMemberStatus) => {
    const at = new Date().toISOString()
    if (out.json) return out.entry({ at, type: 'robot', robot_id: id, name, link, reason, session })
    const driven = session ? `  session ${session.id} ${session.status}` : ''
    out.line(styled('dim', `${clockOf(at)}  `), `${name} ${link}${reason && `: ${reason}`}${driven}`)
  }
  const fleet = new Fleet(robots, reportStatus)
  await runUntilAborted(cli, fleet)
  return fleet
}

async function onScreen(cli: Context, robots: readonly RobotCredentials[]): Promise<Fleet> {
  const fleet = new Fleet(robots, () => screen.changed())
  const screen = openLiveScreen(cli, (size) => fleetScreen(cli.server, fleet.members, size))
  const closeKeys = openKeys(cli.terminal, { typed: () => {} })
  try {
    await runUntilAborted(cli, fleet)
  } finally {
    closeKeys()
    screen.close()
  }
  return fleet
}

async function runUntilAborted(cli: Context, fleet: Fleet): Promise<void> {
  const leave = () => void fleet.close()
  cli.signal.addEventListener('abort', leave, { once: true })
  try {
    cli.signal.throwIfAborted()
    await fleet.run()
  } finally {
    cli.signal.removeEventListener('abort', leave)
    await fleet.close()
  }
}
