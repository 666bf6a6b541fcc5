import type { QueryClient } from '@tanstack/react-query'
import type { RobotStatusEvent } from '@wheelhouse/protocol'
import type { HubClient } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { createStore, type Store } from '../ui/store.ts'
import { throttle } from './throttle.ts'

/** A fleet that connects at once makes one refetch a second. */
const REFRESH_MS = 1_000

/** The last known status of every robot that the user may see, by robot id. */
export type RobotStatuses = ReadonlyMap<string, RobotStatusEvent>

export interface RobotStatusBoard {
  /** Undefined until the first list arrives. */
  readonly statuses: Store<RobotStatuses | undefined>
  /** Subscribes to robot statuses. Safe to call again. */
  follow(): void
}

export function createRobotStatusBoard(hub: HubClient, queries: QueryClient): RobotStatusBoard {
  const statuses = createStore<RobotStatuses | undefined>(undefined)
  let following = false
  const refresh = throttle(() => void queries.invalidateQueries({ queryKey: keys.robots }), REFRESH_MS)
  return {
    statuses,
    follow() {
      if (following) return
      following = true
      const subscription = hub.watchRobots((update) => {
        if (update.kind === 'list') {
          statuses.set(new Map(update.robots.map((robot) => [robot.robot_id, robot])))
          return
        }
        const { robot } = update
        const old = statuses.get()?.get(robot.robot_id)
        statuses.update((known) => new Map(known).set(robot.robot_id, robot))
        // A heartbeat without a status change does not affect the REST queries.
        if (old?.status !== robot.status) refresh()
      })
      subscription.catch(() => {
        following = false
      })
    },
  }
}
