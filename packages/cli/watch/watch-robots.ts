import type { RobotStatusEvent } from '@wheelhouse/protocol'
import { answerOf, type RobotsUpdate } from '@wheelhouse/sdk'
import type { Context } from '../lib/context.ts'
import { ownRobots } from '../lib/ids.ts'
import { canDraw, openKeys, openLiveScreen, type ScreenSize } from '../lib/screen.ts'
import { type Piece, styled } from '../lib/text.ts'
import { clockOf, statusPiece } from '../lib/views.ts'

type RobotsById = ReadonlyMap<string, RobotStatusEvent>

/** Shows the live board of the robots that the caller may see, until the user quits. */
export async function watchRobots(cli: Context, { lines }: { lines?: true }): Promise<void> {
  const names = await namesOf(cli)
  const draws = canDraw(cli) && !lines
  await (draws ? onScreen(cli, names) : inLines(cli, names))
  cli.signal.throwIfAborted()
}

/** Returns the names of robots by id, from the lists of owners and operators: status events have no names. */
async function namesOf(cli: Context): Promise<ReadonlyMap<string, string>> {
  const lists = await Promise.allSettled([
    ownRobots(cli),
    answerOf(cli.rest.GET('/api/operator/available-robots')).then(({ robots }) => robots),
  ])
  const robots = lists.flatMap((list): readonly { id: string; name: string }[] =>
    list.status === 'fulfilled' ? list.value : [],
  )
  return new Map(robots.map(({ id, name }) => [id, name]))
}

async function inLines(cli: Context, names: ReadonlyMap<string, string>): Promise<void> {
  const { out } = cli
  const line = (robot: RobotStatusEvent) => {
    const at = new Date().toISOString()
    const name = names.get(robot.robot_id)
    if (out.json) return out.entry({ at, type: 'robot', ...robot, ...(name !== undefined && { name }) })
    out.line(
      styled('dim', `${clockOf(at)}  `),
      `${robot.robot_id}  `,
      statusPiece(robot.status),
      `  ${name ?? ''}`,
    )
  }
  const hub = (state: 'connected' | 'disconnected') => {
    if (out.json) out.entry({ at: new Date().toISOString(), type: 'hub', state })
    else out.note(`hub ${state}`)
  }
  const lastStatuses = new Map<string, string>()
  await followBoard(cli, {
    hub,
    update: (update) => {
      for (const robot of update.kind === 'list' ? update.robots : [update.robot]) {
        // A list after a reconnect repeats known statuses, and a heartbeat does not change the status.
        if (lastStatuses.get(robot.robot_id) === robot.status) continue
        lastStatuses.set(robot.robot_id, robot.status)
        line(robot)
      }
    },
  })
}

async function onScreen(cli: Context, names: ReadonlyMap<string, string>): Promise<void> {
  let robotsById: RobotsById = new Map()
  let hub = 'connecting'
  const done = new AbortController()
  const screen = openLiveScreen(cli, (size) => boardScreen({ robotsById, names, hub, size }))
  const closeKeys = openKeys(cli.terminal, {
    typed: (text) => QUIT_KEYS.some((key) => text.includes(key)) && done.abort(),
    ended: () => done.abort(),
  })
  try {
    await followBoard(cli, {
      until: done.signal,
      hub: (state) => {
        hub = state
        screen.changed()
      },
      update: (update) => {
        robotsById =
          update.kind === 'list'
            ? new Map(update.robots.map((robot) => [robot.robot_id, robot]))
            : new Map(robotsById).set(update.robot.robot_id, update.robot)
        screen.changed()
      },
    })
  } finally {
    closeKeys()
    screen.close()
  }
}

/** q, and Ctrl-D. */
const QUIT_KEYS = ['q', 'Q', '\u0004']
const ORDER = ['IN_SESSION', 'AVAILABLE', 'OFFLINE']

function boardScreen(options: {
  robotsById: RobotsById
  names: ReadonlyMap<string, string>
  hub: string
  size: ScreenSize
}): Piece[][] {
  const { robotsById, names, hub, size } = options
  const robots = [...robotsById.values()].sort(
    (a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || a.robot_id.localeCompare(b.robot_id),
  )
  const count = (status: string) => robots.filter((robot) => robot.status === status).length
  const head: Piece[][] = [
    [
      styled('bold', `${robots.length} robots`),
      `  ${ORDER.map((status) => `${count(status)} ${status}`).join(', ')}  `,
      hub === 'connected' ? '' : styled('yellow', `hub ${hub}`),
    ],
    [],
  ]
  const availableRows = Math.max(0, size.rows - head.length - 2)
  const hidden = robots.length - availableRows
  const rows = robots
    .slice(0, availableRows)
    .map(({ robot_id, status, last_heartbeat }): Piece[] => [
      `${robot_id}  `,
      statusPiece(status.padEnd(10)),
      styled('dim', `  ${last_heartbeat ? clockOf(last_heartbeat) : '–'.padEnd(8)}  `),
      names.get(robot_id) ?? '',
    ])
  const space = Array.from({ length: availableRows - rows.length }, (): Piece[] => [])
  const foot: Piece[][] = [[hidden > 0 ? styled('dim', `and ${hidden} more`) : ''], [styled('dim', 'q quit')]]
  return [...head, ...rows, ...space, ...foot]
}

/** Follows the board until `until` or Ctrl-C. @throws HubError when the hub refuses */
async function followBoard(
  cli: Context,
  options: {
    until?: AbortSignal
    hub: (state: 'connected' | 'disconnected') => void
    update: (update: RobotsUpdate) => void
  },
): Promise<void> {
  const ended = Promise.withResolvers<void>()
  const hub = cli.hub({
    onConnected: () => options.hub('connected'),
    onDisconnected: () => options.hub('disconnected'),
    onClosed: (reason) => ended.reject(reason.cause ?? reason),
  })
  const leave = () => ended.resolve()
  const signals = [cli.signal, ...(options.until ? [options.until] : [])]
  for (const signal of signals) signal.addEventListener('abort', leave, { once: true })
  hub.watchRobots(options.update).catch((cause) => ended.reject(cause))
  hub.connect().catch(() => {}) // reported through onClosed
  try {
    if (signals.some(({ aborted }) => aborted)) return
    await ended.promise
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', leave)
    hub.close()
  }
}
