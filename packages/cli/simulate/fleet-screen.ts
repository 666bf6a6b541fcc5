import type { ScreenSize } from '../screen/live-screen.ts'
import { type Piece, type Style, styled } from '../text.ts'
import { statusPiece } from '../views.ts'
import type { FleetMember } from './fleet.ts'

const STYLES: Readonly<Record<FleetMember['link'], Style>> = {
  waiting: 'dim',
  connecting: 'yellow',
  online: 'green',
  offline: 'yellow',
  closed: 'red',
}
const NAME_COLUMNS = 24
const LINK_COLUMNS = 11

/** Returns the fleet screen, with a line for each robot: name, link, session and position. */
export function fleetScreen(
  server: string,
  members: readonly FleetMember[],
  { rows }: Pick<ScreenSize, 'rows'>,
): Piece[][] {
  const online = members.filter(({ link }) => link === 'online').length
  const driven = members.filter(({ session }) => session).length
  const availableRows = Math.max(0, rows - 4)
  const hidden = members.length - availableRows
  return [
    [
      styled('bold', `${members.length} simulated robots`),
      ` at ${server}: ${online} online, ${driven} in a session`,
    ],
    [],
    ...members.slice(0, availableRows).map(lineOf),
    [hidden > 0 ? styled('dim', `and ${hidden} more`) : ''],
    [styled('dim', 'Ctrl-C ends them')],
  ]
}

function lineOf({ name, link, reason, session, robot }: FleetMember): Piece[] {
  const { xM, yM, battery } = robot.state
  const position = `x ${xM.toFixed(2)} m, y ${yM.toFixed(2)} m, battery ${(battery * 100).toFixed(0)} %`
  const shown: Piece[] = [name.padEnd(NAME_COLUMNS), styled(STYLES[link], link.padEnd(LINK_COLUMNS))]
  if (session) return [...shown, statusPiece(session.status), ` ${session.id}  ${position}`]
  return [...shown, reason && link !== 'online' ? reason : styled('dim', position)]
}
