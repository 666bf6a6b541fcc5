import type { Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { ownRobots } from './own-robots.ts'
import { robotColumns } from './view.ts'

interface Options {
  readonly status?: Schemas['RobotStatus']
  readonly type?: string
  readonly tag?: string
  /** A charge in percent. */
  readonly batteryBelow?: number
  readonly search?: string
  readonly limit: number
  readonly offset?: number
}

/** Prints the caller's robots, newest first. */
export async function run(cli: Context, options: Options): Promise<void> {
  const { limit, offset = 0, status, type, tag, batteryBelow, search } = options
  const filters = {
    ...(status && { status }),
    ...(type !== undefined && { robot_type: type }),
    ...(tag !== undefined && { tag }),
    ...(batteryBelow !== undefined && { battery_below: batteryBelow / 100 }),
    ...(search !== undefined && { search }),
  }
  const robots = await ownRobots(cli, filters, { limit, offset })
  const emptyText = Object.keys(filters).length > 0 || offset > 0 ? 'No matching robots.' : NO_ROBOTS
  cli.out.list(robots, robotColumns, emptyText)
}

const NO_ROBOTS = 'No robots. Register one with: wheelhouse robots register'
