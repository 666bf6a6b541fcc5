import { z } from 'zod'

/** The tabs of a robot's page, in display order. */
export const RobotTab = z.enum(['live', 'sessions', 'data', 'health', 'access', 'settings', 'connect'])
export type RobotTab = z.infer<typeof RobotTab>

/** Reads the tab from the query string; undefined for the first one and for an unknown one. */
export function readRobotTab({ tab }: Record<string, unknown>): { tab?: RobotTab | undefined } {
  const known = RobotTab.safeParse(tab).data
  return { tab: known === 'live' ? undefined : known }
}
