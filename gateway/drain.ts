import { spread } from '../src/core/concurrency/async.ts'
import type { Log } from '../src/core/log.ts'
import type { Presence } from '../src/modules/presence/presence.service.ts'
import type { PresenceStore } from '../src/modules/presence/presence.store.ts'
import type { DriveRoom } from './drive-room.ts'
import type { Episodes } from './episodes.ts'
import type { Heartbeats } from './heartbeats.ts'
import type { Link } from './link.ts'
import { RobotLink } from './robot-link.ts'
import type { RobotLogQueue } from './robot-logs.ts'

/**
 * Sends everybody elsewhere. First what the robots have sent is written, while the connections that own it still
 * stand; then they are closed, robots before people, who then hear where their robot is. A robot in a session is
 * handed over: the database goes on taking it for connected until it is, or until its time is up.
 */
export async function drainLinks(parts: {
  links: () => Iterable<Link>
  heartbeats: Heartbeats
  episodes: Episodes
  logs: RobotLogQueue
  room: DriveRoom
  presence: Presence
  store: PresenceStore
  nodeId: string
  log: Log
  clockMs: () => number
  /** Called once the database knows that robots are handed over from now on. */
  onHandOver: () => void
}): Promise<void> {
  const { links, heartbeats, episodes, logs, room, presence, store, nodeId, log, clockMs, onHandOver } = parts
  await Promise.all([
    store
      .drainNode(nodeId)
      .then(onHandOver)
      .catch((cause) => log.warn({ err: cause }, 'robots in sessions will count as lost')),
    heartbeats.flush().catch((cause) => log.error({ err: cause }, 'heartbeats not written at shutdown')),
    episodes.flush().catch((cause) => log.warn({ err: cause }, 'episodes left to their robots at shutdown')),
    logs.flush().catch((cause) => log.warn({ err: cause }, 'log lines of robots not written at shutdown')),
    room.flush(),
  ])
  await spread([...links()], (link) => {
    // Only now, since until here driving went on.
    if (link instanceof RobotLink) link.drive?.standIfMoving('gateway_draining', clockMs())
    link.close('draining')
  })
  await Promise.all([presence.idle(), room.flush()])
}
