import type { ScreenSize } from '../screen/live-screen.ts'
import { type Piece, painted, type Style } from '../text.ts'
import { statusPiece } from '../views.ts'
import type { Member } from './fleet.ts'

const STYLES: Readonly<Record<Member['link'], Style>> = {
  waiting: 'dim',
  connecting: 'yellow',
  online: 'green',
  offline: 'yellow',
  closed: 'red',
}
const NAME_COLUMNS = 24
const LINK_COLUMNS = 11

/** The fleet, a line for each robot: who it is, how its link is, its session, where it stands. */
export function fleetScreen(
  server: string,
  members: readonly Member[],
  { rows }: Pick<ScreenSize, 'rows'>,
): Piece[][] {
  const online = members.filter(({ link }) => link === 'online').length
  const driven = members.filter(({ session }) => session).length
  const room = Math.max(0, rows - 4)
  const hidden = members.length - room
  return [
    [
      painted('bold', `${members.length} simulated robots`),
      ` at ${server}: ${online} online, ${driven} in a session`,
    ],
    [],
    ...members.slice(0, room).map(lineOf),
    [hidden > 0 ? painted('dim', `and ${hidden} more`) : ''],
    [painted('dim', 'Ctrl-C ends them')],
  ]
}

function lineOf({ name, link, reason, session, robot }: Member): Piece[] {
  const { xM, yM, battery } = robot.state
  const where = `x ${xM.toFixed(2)} m, y ${yM.toFixed(2)} m, battery ${(battery * 100).toFixed(0)} %`
  const shown: Piece[] = [name.padEnd(NAME_COLUMNS), painted(STYLES[link], link.padEnd(LINK_COLUMNS))]
  if (session) return [...shown, statusPiece(session.status), ` ${session.id}  ${where}`]
  return [...shown, reason && link !== 'online' ? reason : painted('dim', where)]
}
