import { RobotStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { parameter, textParameter } from '../list/list-search.ts'

const columns = ['name', 'created_at', 'total_hours', 'last_heartbeat'] as const

const schema = z.object({
  search: textParameter,
  sort: parameter(z.enum(columns.flatMap((column) => [column, `-${column}`] as const))),
  status: parameter(RobotStatus),
  type: textParameter,
  tag: textParameter,
  /** `below-20`: only robots with a charge below 20 %. */
  battery: parameter(z.string().regex(/^below-([1-9]\d?|100)$/)),
})

/** Search text, order and filters of the robot list, as stored in the query string. */
export type RobotSearch = z.output<typeof schema>

/** Returns the charge in percent that a value of the parameter `battery` contains. */
export const batteryPercent = (battery: string): number => Number(battery.replace('below-', ''))

export const readRobotSearch = (search: Record<string, unknown>): RobotSearch => schema.parse(search)

/** The tabs of a robot's page, in display order. */
export const RobotTab = z.enum(['live', 'sessions', 'data', 'health', 'access', 'settings', 'connect'])
export type RobotTab = z.infer<typeof RobotTab>

/** Reads the tab from the query string; undefined for the first one and for an unknown one. */
export function readRobotTab({ tab }: Record<string, unknown>): { tab?: RobotTab | undefined } {
  const known = RobotTab.safeParse(tab).data
  return { tab: known === 'live' ? undefined : known }
}
